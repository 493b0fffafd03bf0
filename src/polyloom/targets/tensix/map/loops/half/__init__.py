# SPDX-License-Identifier: Apache-2.0
"""Functions for results that are stored in 16 bits: as accurate as those formats, and shorter."""

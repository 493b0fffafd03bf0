# SPDX-License-Identifier: Apache-2.0
"""Products spread over a grid of tiles."""

# SPDX-License-Identifier: Apache-2.0
"""The static check of symbolic and concrete configurations."""

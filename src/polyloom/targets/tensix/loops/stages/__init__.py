# SPDX-License-Identifier: Apache-2.0
"""Programs of several products and element-wise programs, one after another on a tile."""

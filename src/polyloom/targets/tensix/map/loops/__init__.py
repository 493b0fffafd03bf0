# SPDX-License-Identifier: Apache-2.0
"""Common loops on the tile: matrix products and element-wise programs, as programs of T0, T1 and T2."""

# SPDX-License-Identifier: Apache-2.0
"""The model of a Tensix tile: `native/tensix`."""

L1_BYTES: int

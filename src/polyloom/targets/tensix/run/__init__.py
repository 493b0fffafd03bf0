# SPDX-License-Identifier: Apache-2.0
"""What runs on a tile: the model and its places, programs of stages, vector kernels, sweeps; traces and costs."""

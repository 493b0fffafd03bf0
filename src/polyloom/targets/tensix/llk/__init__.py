# SPDX-License-Identifier: Apache-2.0
"""Low-level kernels of three threads (unpack, math, pack), compiled by clang and run on a tile."""

# SPDX-License-Identifier: Apache-2.0
"""Loops with packed SIMD over all harts: any affine nest, whose parallel loops are found by its dependences."""

# SPDX-License-Identifier: Apache-2.0
"""SIMD loops over all harts, in packed instructions: any affine nest, whose parallel loops are found by its
dependences.
"""

# SPDX-License-Identifier: Apache-2.0
"""Mapping of phases of loops to parts of programs: products, convolutions, and other loops as packed SIMD."""

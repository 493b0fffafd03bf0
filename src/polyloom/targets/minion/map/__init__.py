# SPDX-License-Identifier: Apache-2.0
"""From phases of loops to parts of programs: products, convolutions, and other loops as packed SIMD."""

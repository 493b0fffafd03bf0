# SPDX-License-Identifier: Apache-2.0
"""Integers of formulas for machines whose stages have one type: floats in their place (`carry`), sums of their products
without a rounding (`exact_products`), and their ranges."""

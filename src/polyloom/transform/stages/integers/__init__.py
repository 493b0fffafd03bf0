# SPDX-License-Identifier: Apache-2.0
"""Integers of formulas for machines whose stages have one type: floats in their place (`carry`, and `carry_nest` for
loops), sums of their products without a rounding (`exact_products`), and their ranges."""

# SPDX-License-Identifier: Apache-2.0
"""Sums of products of integers on a matrix unit of floats, without a rounding: one factor of several bits is split.

The unit aligns several products to the one with the largest exponent, and keeps 11 bits (docs/targets/tensix-matrix.md,
"Arithmetic"; ISA documentation, page of `MVMUL`). Products of 11 bits lose nothing, those of two bytes have more. So
a = h + l, where h is a multiple of 16 and l at most 8 (error-free splitting; Dekker 1971): products of h and of l have
11 bits, and the sums of both are exact while they are below 2**24.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from polyloom.ir.formula import Apply, Leaf, Number, Sum, Term

_UNIT: Final = 16
"""What the high part of a split factor is a multiple of."""
_ALIGNED: Final = 11
"""Bits of products that lose nothing where they are aligned to each other."""


def exact_sum(whole: Sum, factors: Sequence[Term], magnitudes: Sequence[int]) -> Term | None:
    """Sum of products of two factors, whose largest magnitudes are known, as sums that are exact; None where no factor
    can be split into two."""
    bits = [magnitude.bit_length() for magnitude in magnitudes]
    # Numbers of n and m bits have exponents n - 1 and m - 1: their product is aligned by the sum of these.
    if sum(bits) - 1 <= _ALIGNED:
        return sum_of_products(whole, factors)
    # What is computed anyway is split, rather than an argument.
    for n in (1, 0) if isinstance(factors[0], Leaf) else (0, 1):
        # High parts may be rounded up, by 4 bits less than they have, because the last 4 are zero.
        high = (magnitudes[n] + _UNIT // 2) // _UNIT
        lengths = (_UNIT // 2).bit_length(), high.bit_length()
        if max(lengths) + bits[1 - n] - 1 <= _ALIGNED:
            return _split_sum(whole, factors, n)
    return None


def sum_of_products(whole: Sum, factors: Sequence[Term]) -> Sum:
    """The sum with these two factors."""
    return replace(whole, term=Apply("mul", (factors[0], factors[1])))


def _split_sum(whole: Sum, factors: Sequence[Term], n: int) -> Term:
    """Sums of products with the high and with the low part of a factor."""
    high = Apply("mul", (Apply("rint", (Apply("mul", (factors[n], Number(1 / _UNIT))),)), Number(float(_UNIT))))
    low = Apply("sub", (factors[n], high))
    high_sum, low_sum = (
        sum_of_products(whole, [part if m == n else factors[m] for m in (0, 1)]) for part in (high, low)
    )
    return Apply("add", (high_sum, low_sum))

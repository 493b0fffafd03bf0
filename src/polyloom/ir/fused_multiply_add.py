# SPDX-License-Identifier: Apache-2.0
"""Fused multiply-add of doubles, rounded once (IEEE 754, section 5.4.1), on NumPy arrays and scalars alike.

Where no step over- or underflows: the product is two doubles (Dekker, Numerische Mathematik 18, 1971), both are added
to the addend without error (Knuth's TwoSum), and the two lesser terms are added with rounding to odd, so that the last
sum rounds the exact one (Boldo, Melquiond, IEEE TC 57(4), 2008). Elsewhere it is computed with fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Value = npt.NDArray[Any]
_BELOW_SINGLE, _HALF_WAY, _LEAST_SINGLE = (1 << 29) - 1, 1 << 28, 2.0**-126
"""Bits of a double that a single lacks, what they are half way between two singles, and the least normal single."""
# Veltkamp's constant 2^27 + 1 halves a significand of 53 bits into 26 and 26 bits and a sign (Dekker 1971).
_SPLIT: Final = 2.0**27 + 1
_LEAST, _MOST = 2.0**-400, 2.0**400
"""Of factors; products and addends within their squares have no step that leaves the range."""


def multiply_add(a: Value, b: Value, c: Value) -> Value:
    """Fused multiply-add: `a * b + c`, rounded once; within `np.errstate(all="ignore")`."""
    a, b, c = np.broadcast_arrays(a, b, c)
    plain = a * b + c
    # Zero products and non-finite operands have no rounding error: the plain form has the right zero, infinity or NaN.
    special = (a == 0) | (b == 0) | ~np.isfinite(a) | ~np.isfinite(b) | np.isnan(c)
    factors = [(abs(x) >= _LEAST) & (abs(x) <= _MOST) for x in (a, b)]
    # Within these bounds no partial product and no error term leaves the normal range.
    usual = factors[0] & factors[1] & ((c == 0) | ((abs(c) >= _LEAST**2) & (abs(c) <= _MOST**2)))
    found = np.where(special, plain, _multiply_add_by_parts(a, b, c))
    rare = ~(special | usual)
    if rare.any():
        found = np.array(found)
        # Exact at any magnitude, and slow: for the few elements outside of the bounds.
        triples = zip(a[rare].tolist(), b[rare].tolist(), c[rare].tolist(), strict=True)
        found[rare] = [multiply_add_by_fractions(*triple) for triple in triples]
    return found[()]


def multiply_add_by_fractions(a: float, b: float, c: float) -> float:
    """`a * b + c` of finite factors that are not 0, rounded once."""
    # The product of finite factors cannot cancel an infinity.
    if math.isinf(c):
        return c
    total = Fraction(a) * Fraction(b) + Fraction(c)
    # Terms that cancel exactly give +0 in rounding to nearest (IEEE 754, section 6.3).
    if not total:
        return 0.0
    try:
        return float(total)  # rounded to nearest, ties to even
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def sum_rounded_to_odd(a: Value, b: Value) -> Value:
    """Sum rounded to odd (Boldo and Melquiond 2008): if `a + b` is inexact, the neighbour whose last bit is 1."""
    total, error = _exact_sum(a, b)
    # The sign of the error tells on which side of the rounded sum the exact one lies.
    inexact_even = (error != 0) & np.isfinite(error) & (total.view(np.int64) & 1 == 0)
    return np.where(inexact_even, np.nextafter(total, np.copysign(np.inf, error)), total)


def sum_rounded_to_single(a: Value, b: Value) -> Value:
    """Sum of doubles, rounded once to single.

    Two roundings differ from one only if the first ends half way between two singles, or where singles are denormal;
    there, the first rounds to odd (Boldo and Melquiond 2008).
    """
    total = np.asarray(a + b)
    found = total.astype(np.float32)
    rare = (total.view(np.int64) & _BELOW_SINGLE) == _HALF_WAY
    rare |= (np.abs(total) < _LEAST_SINGLE) & (total != 0)
    if rare.any():
        pairs = (np.broadcast_to(x, total.shape)[rare] for x in (a, b))
        found[rare] = sum_rounded_to_odd(*pairs).astype(np.float32)
    return found[()]


def _multiply_add_by_parts(a: Value, b: Value, c: Value) -> Value:
    high, low = _exact_product(a, b)
    first, first_error = _exact_sum(c, low)
    second, second_error = _exact_sum(high, first)
    return second + sum_rounded_to_odd(np.asarray(first_error), np.asarray(second_error))


def _exact_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """Exact sum of two doubles (Knuth 1997, section 4.2.2, theorem B): the rounded sum, and its error."""
    total = a + b
    rest = total - a
    return total, (a - (total - rest)) + (b - rest)


def _exact_product(a: Value, b: Value) -> tuple[Value, Value]:
    """Exact product of two doubles (Dekker 1971): the rounded product, and its error."""
    product = a * b
    (ah, al), (bh, bl) = _split_significand(a), _split_significand(b)
    return product, al * bl - (((product - ah * bh) - al * bh) - ah * bl)


def _split_significand(a: Value) -> tuple[Value, Value]:
    """Splitting of a significand (Veltkamp's, in Dekker 1971): two halves, whose products are exact."""
    scaled = _SPLIT * a
    high = scaled - (scaled - a)
    return high, a - high

# SPDX-License-Identifier: Apache-2.0
"""Reference arithmetic of TensorFMA32: its result element by element in NumPy, independent of the model.

Along k each product is added with one rounding to nearest; the first is a plain product. A step of which an operand is
+0 is left out, but for the first. Operands below 2^-126 count as zeros of their sign, results that are below it before
they are rounded become zeros, every NaN is the canonical one. Rounding the sum to odd in double precision keeps both
the rounding and that comparison exact (Boldo and Melquiond 2008; ir/semantics.py). Source: docs/targets/minion.md,
"Tensor operations".
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_LEAST: Final = 2.0**-126
# A sum is split over at most 1,024 minions.
_PARTS: Final = 1024
_NAN: Final = 0x7FC00000
_ELEMENTS: Final = 1 << 16
"""Of the result that are computed at once, so that intermediate arrays stay in caches."""


def product(left: Array, right: Array, begins: Array | None = None) -> Array:
    """Product of single-precision matrices, as the tensor unit rounds; sums may begin with a matrix."""
    made = np.zeros((left.shape[0], right.shape[1]), np.float32)
    at_once = max(1, _ELEMENTS // max(right.shape[1], 1))
    with np.errstate(all="ignore"):
        for first in range(0, left.shape[0], at_once):
            rows = slice(first, first + at_once)
            made[rows] = _multiply_rows(left[rows], right, None if begins is None else begins[rows])
    return made


def product_from_zero(left: Array, right: Array) -> Array:
    """Product whose sums begin at +0: a column of zeros in front makes the first step a product of zeros."""
    left = np.concatenate([np.zeros((left.shape[0], 1), np.float32), left], axis=1)
    return product(left, np.concatenate([np.zeros((1, right.shape[1]), np.float32), right]))


def multiply_elements(left: Array, right: Array) -> Array:
    """Product element by element, as TensorQuant computes it (manual, chapter 9)."""
    with np.errstate(all="ignore"):
        return _narrow_to_single(_to_double(_flush_subnormals(left)) * _to_double(_flush_subnormals(right)))


def _multiply_rows(left: Array, right: Array, total: Array | None = None) -> Array:
    """Some rows of a product, step by step along k."""
    a, b = (_to_double(_flush_subnormals(each)) for each in (left, right))
    # The skip rule tests for the bits of +0: -0 and subnormals are multiplied.
    no_a, no_b = (each.view(np.uint32) == 0 for each in (np.ascontiguousarray(left), np.ascontiguousarray(right)))
    first = int(total is None)
    total = _narrow_to_single(a[:, :1] * b[:1]) if total is None else total
    for k in range(first, left.shape[1]):
        made = _narrow_to_single(_rounding_to_odd(a[:, k : k + 1] * b[k : k + 1], _to_double(_flush_subnormals(total))))
        some = no_a[:, k].any() or no_b[k].any()
        # A skipped step also hides an infinity or NaN of the other operand.
        total = np.where(no_a[:, k : k + 1] | no_b[k : k + 1], total, made) if some else made
    return total


def _to_double(values: Array) -> Array:
    return values.astype(np.float64)


def _flush_subnormals(values: Array) -> Array:
    return np.where(np.abs(values) < np.float32(_LEAST), np.copysign(np.float32(0), values), values)


def _rounding_to_odd(product: Array, addend: Array) -> Array:
    """Sum rounded to odd (Boldo and Melquiond 2008); Knuth's TwoSum (Knuth 1969, section 4.2.2) gives what rounding
    leaves out.
    """
    total = product + addend
    rest = total - product
    error = (product - (total - rest)) + (addend - rest)
    # An even last bit is replaced by its odd neighbour towards the error, so that a second rounding sees that the value
    # is no tie.
    change = (error != 0) & np.isfinite(error) & (total.view(np.int64) & 1 == 0)
    if change.any():
        total = np.where(change, np.nextafter(total, np.copysign(np.inf, error)), total)
    return total


def _narrow_to_single(total: Array) -> Array:
    """Rounding to single precision. Tiny results are flushed before they are rounded."""
    made = np.where(np.abs(total) < _LEAST, np.copysign(0.0, total), total).astype(np.float32)
    wrong = np.isnan(made)
    if wrong.any():
        made.view(np.uint32)[wrong] = _NAN
    return made


def product_in_double(left: Array, right: Array, begins: Array | None = None) -> Array:
    """Product in double precision, as singles; sums may begin with a matrix."""
    with np.errstate(all="ignore"):
        made = left.astype(np.float64) @ right.astype(np.float64)
        return (made if begins is None else begins + made).astype(np.float32)


def propagated_bound(
    left: tuple[Array, Array], right: tuple[Array, Array], halves: bool, begins: tuple[Array, Array] | None = None
) -> Array:
    """`error_bound` for factors, and what sums begin with, each of which may itself be off by an array of bounds."""
    (a, of_a), (b, of_b) = left, right
    c, of_c = (0.0, 0.0) if begins is None else begins
    with np.errstate(all="ignore"):
        a, b = np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64))
        passed = a @ of_b + of_a @ b + of_a @ of_b + of_c
        return passed + error_bound(a + of_a, b + of_b, halves, np.abs(c) + of_c)


def error_bound(left: Array, right: Array, halves: bool, begins: Array | float = 0.0) -> Array:
    """A-priori error bound of an inner product (Higham 2002, section 3.1), where sums take another order, or operands
    are half precision.

    Each step and each of at most 2^10 parts rounds what is at most the sum of |a b| and what it begins with, or loses
    less than the least normal number. Source: docs/targets/minion.md.
    """
    a, b = np.abs(left.astype(np.float64)), np.abs(right.astype(np.float64))
    with np.errstate(all="ignore"):
        # Half precision truncates (2^-22), single precision rounds to nearest.
        return (left.shape[1] + _PARTS) * ((2.0**-22 if halves else 2.0**-23) * (a @ b + begins) + _LEAST)

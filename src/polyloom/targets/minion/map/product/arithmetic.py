# SPDX-License-Identifier: Apache-2.0
"""What TensorFMA32 makes of matrices, element by element in NumPy, apart from the model.

Along k each product is added with one rounding to nearest; the first is a plain product. A step of which an operand is
+0 is left out, but for the first. Operands below 2^-126 count as zeros of their sign, results that are below it before
they are rounded become zeros, every NaN is the canonical one. Rounding the sum to odd in double precision keeps both
the rounding and that comparison exact (ir/semantics.py). Source: docs/targets/minion.md, "Tensor operations".
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_LEAST: Final = 2.0**-126
_PARTS: Final = 1024
_NAN: Final = 0x7FC00000
_ELEMENTS: Final = 1 << 16
"""Of the result that are computed at once, so that intermediate arrays stay in caches."""


def product(left: Array, right: Array, begins: Array | None = None) -> Array:
    """Of single-precision matrices; sums may begin with a matrix."""
    made = np.zeros((left.shape[0], right.shape[1]), np.float32)
    at_once = max(1, _ELEMENTS // max(right.shape[1], 1))
    with np.errstate(all="ignore"):
        for first in range(0, left.shape[0], at_once):
            rows = slice(first, first + at_once)
            made[rows] = _rows(left[rows], right, None if begins is None else begins[rows])
    return made


def summed(left: Array, right: Array) -> Array:
    """As `product`, of sums that begin at +0."""
    left = np.concatenate([np.zeros((left.shape[0], 1), np.float32), left], axis=1)
    return product(left, np.concatenate([np.zeros((1, right.shape[1]), np.float32), right]))


def added(left: Array, right: Array) -> Array:
    """The sum of two results, as TensorReduce computes it."""
    with np.errstate(all="ignore"):
        return _rounded(_double(_flushed(left)) + _double(_flushed(right)))


def multiplied(left: Array, right: Array) -> Array:
    """Element by element."""
    with np.errstate(all="ignore"):
        return _rounded(_double(_flushed(left)) * _double(_flushed(right)))


def _rows(left: Array, right: Array, total: Array | None = None) -> Array:
    a, b = (_double(_flushed(each)) for each in (left, right))
    no_a, no_b = (each.view(np.uint32) == 0 for each in (np.ascontiguousarray(left), np.ascontiguousarray(right)))
    first = int(total is None)
    total = _rounded(a[:, :1] * b[:1]) if total is None else total
    for k in range(first, left.shape[1]):
        made = _rounded(_odd(a[:, k : k + 1] * b[k : k + 1], _double(_flushed(total))))
        some = no_a[:, k].any() or no_b[k].any()
        total = np.where(no_a[:, k : k + 1] | no_b[k : k + 1], total, made) if some else made
    return total


def _double(values: Array) -> Array:
    return values.astype(np.float64)


def _flushed(values: Array) -> Array:
    return np.where(np.abs(values) < np.float32(_LEAST), np.copysign(np.float32(0), values), values)


def _odd(product: Array, addend: Array) -> Array:
    """Their sum, rounded to odd; Knuth's TwoSum gives what rounding leaves out."""
    total = product + addend
    rest = total - product
    error = (product - (total - rest)) + (addend - rest)
    change = (error != 0) & np.isfinite(error) & (total.view(np.int64) & 1 == 0)
    if change.any():
        total = np.where(change, np.nextafter(total, np.copysign(np.inf, error)), total)
    return total


def _rounded(total: Array) -> Array:
    """To single precision, flushed before."""
    made = np.where(np.abs(total) < _LEAST, np.copysign(0.0, total), total).astype(np.float32)
    wrong = np.isnan(made)
    if wrong.any():
        made.view(np.uint32)[wrong] = _NAN
    return made


def doubles(left: Array, right: Array, begins: Array | None = None) -> Array:
    """The product in double precision, as singles; sums may begin with a matrix."""
    with np.errstate(all="ignore"):
        made = left.astype(np.float64) @ right.astype(np.float64)
        return (made if begins is None else begins + made).astype(np.float32)


def grown(
    left: tuple[Array, Array], right: tuple[Array, Array], halves: bool, begins: tuple[Array, Array] | None = None
) -> Array:
    """`bound` for factors, and what sums begin with, each of which may itself be off by an array of bounds."""
    (a, of_a), (b, of_b) = left, right
    c, of_c = (0.0, 0.0) if begins is None else begins
    with np.errstate(all="ignore"):
        a, b = np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64))
        passed = a @ of_b + of_a @ b + of_a @ of_b + of_c
        return passed + bound(a + of_a, b + of_b, halves, np.abs(c) + of_c)


def bound(left: Array, right: Array, halves: bool, begins: Array | float = 0.0) -> Array:
    """By how much an element may be off where sums take another order, or operands are half precision: each step and
    each of at most 2^10 parts rounds what is at most the sum of |a b| and what it begins with, or loses less than the
    least normal number."""
    a, b = np.abs(left.astype(np.float64)), np.abs(right.astype(np.float64))
    with np.errstate(all="ignore"):
        return (left.shape[1] + _PARTS) * ((2.0**-22 if halves else 2.0**-23) * (a @ b + begins) + _LEAST)

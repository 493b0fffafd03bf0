# SPDX-License-Identifier: Apache-2.0
"""Floating-point arithmetic (IEEE 754-2019, 4 and 5) of small formats by exact numbers: the code of a magnitude is its
place among all of them, so that rounding is a search. Singles and halves are NumPy's; products that are fused are
rational numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]


@dataclass(frozen=True)
class Format:
    """Widths of exponent and fraction; `number` in bench.v."""

    name: str
    number: int
    exponent: int
    fraction: int

    @property
    def size(self) -> int:
        return 1 << (self.exponent + self.fraction + 1)

    @property
    def sign(self) -> int:
        return self.size >> 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def quiet(self) -> int:
        return self.infinity | 1 << (self.fraction - 1)

    @property
    def least(self) -> int:
        """Exponent of the least subnormal."""
        return 2 - (1 << (self.exponent - 1)) - self.fraction

    def magnitude(self, code: int) -> Fraction:
        """Of a finite code, or of infinity as if it were one number more."""
        field, fraction = divmod(code, 1 << self.fraction)
        whole = fraction + ((1 << self.fraction) if field else 0)
        return whole * Fraction(2) ** (self.least + max(field, 1) - 1)

    def nearest(self, value: Fraction) -> int:
        """Code of the magnitude nearest to a positive one, ties to even."""
        top = value.numerator.bit_length() - value.denominator.bit_length()
        top -= value < Fraction(2) ** top
        step = max(top - self.fraction, self.least)
        # Python's `round` of a fraction is exact, ties to even.
        return min(round(value / Fraction(2) ** step) + ((step - self.least) << self.fraction), self.infinity)

    @cached_property
    def magnitudes(self) -> NDArray[np.longdouble]:
        return np.array([np.longdouble(float(self.magnitude(n))) for n in range(self.infinity + 1)], np.longdouble)

    def values(self, words: Words) -> NDArray[np.longdouble]:
        """Exact numbers, infinities and NaNs of words of a small format."""
        code = words & (self.sign - 1)
        found = self.magnitudes[np.minimum(code, self.infinity)]
        found = np.where(code == self.infinity, np.longdouble("inf"), found)
        found = np.where(code > self.infinity, np.longdouble("nan"), found)
        return np.where(words & self.sign, -found, found)

    def words(self, values: NDArray[np.longdouble]) -> Words:
        """Words nearest to exact numbers: their places between the midpoints of magnitudes."""
        middle = (self.magnitudes[1:] + self.magnitudes[:-1]) / 2
        size = np.abs(values)
        code = np.searchsorted(middle, size)
        code += (code < len(middle)) & (code % 2 == 1) & (middle[np.minimum(code, len(middle) - 1)] == size)
        word = np.where(np.isnan(values), self.quiet, code + np.where(np.signbit(values), self.sign, 0))
        return word.astype(np.uint32)


E4M3: Final = Format("e4m3", 0, 4, 3)
E5M2: Final = Format("e5m2", 1, 5, 2)
F16: Final = Format("f16", 2, 5, 10)
F32: Final = Format("f32", 3, 8, 23)
NUMPY: Final = {"f16": (np.float16, np.uint16), "f32": (np.float32, np.uint32)}
NUMBERS: Final = {
    "add": 1, "sub": 2, "mul": 3, "div": 4, "min": 5, "max": 6, "eq": 12, "ne": 13, "lt": 14, "le": 15, "gt": 16,
    "ge": 17, "neg": 19, "abs": 20, "madd": 21, "sqrt": 22, "to_i8": 26, "to_i16": 27, "to_i32": 28, "to_u8": 29,
    "to_u16": 30, "to_u32": 31, "to_bool": 32, "to_f32": 33, "round_i32": 36,
}  # fmt: skip
COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge")
BINARY: Final = ("add", "sub", "mul", "div", "min", "max", *COMPARISONS)
UNARY: Final = ("neg", "abs", "sqrt", *(n for n in NUMBERS if n.startswith("to_") and n != "to_f32"), "round_i32")
_ARITHMETIC: Final = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt}
_RELATIONS: Final = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def expected_words(form: Format, operation: str, a: Words, b: Words) -> Words:
    """Words of the results of an operation of one or two operands, NaNs that arithmetic makes as `quiet`."""
    with np.errstate(all="ignore"):
        x, y = _numbers(form, a), _numbers(form, b)
        if operation in _ARITHMETIC:
            function: Any = _ARITHMETIC[operation]
            return _encoded(form, function(x) if operation == "sqrt" else function(x, y))
        if operation in _RELATIONS:
            return _RELATIONS[operation](x, y).astype(np.uint32)
        if operation in ("min", "max"):
            better = y < x if operation == "min" else y > x
            return np.where(np.isnan(x) | better, b, a)
        if operation in ("neg", "abs"):
            return (a ^ form.sign if operation == "neg" else a & (form.sign - 1)).astype(np.uint32)
        return (x != 0).astype(np.uint32) if operation == "to_bool" else _integers(operation, x)


def _integers(operation: str, x: NDArray[Any]) -> Words:
    """Saturated integers (polyloom.ir.operations) as words, extended by their sign."""
    kind = operation.rpartition("_")[2]
    bits = int(kind[1:])
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "i" else (0, (1 << bits) - 1)
    whole = np.rint(x) if operation == "round_i32" else np.trunc(x)
    of_nan = high if operation == "round_i32" else 0
    clipped = np.clip(np.where(np.isnan(x), of_nan, whole).astype(np.float64), low, high)
    return (clipped.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)


def _numbers(form: Format, words: Words) -> NDArray[Any]:
    if form.name not in NUMPY:
        return form.values(words)
    kind, bits = NUMPY[form.name]
    return words.astype(bits).view(kind)


def _encoded(form: Format, values: NDArray[Any]) -> Words:
    if form.name not in NUMPY:
        return form.words(values)
    words = values.view(NUMPY[form.name][1]).astype(np.uint32)
    return np.where(np.isnan(values), form.quiet, words).astype(np.uint32)


def of_integers(form: Format, integers: NDArray[np.int64]) -> Words:
    """Words nearest to integers."""
    if form.name == "f32":
        return integers.astype(np.float32).view(np.uint32)
    signs = np.where(integers < 0, form.sign, 0)
    return np.array([form.nearest(Fraction(abs(int(i)))) if i else 0 for i in integers], np.uint32) + signs


def fused_words(form: Format, a: Words, b: Words, c: Words) -> Words:
    """a * b + c of a small format: 64 bits hold the exact sum."""
    assert np.finfo(np.longdouble).nmant >= 63
    with np.errstate(all="ignore"):
        return form.words(form.values(a) * form.values(b) + form.values(c))


def fused_word(form: Format, a: int, b: int, c: int) -> int:
    """a * b + c of any format, by rational numbers."""
    codes = [w & (form.sign - 1) for w in (a, b, c)]
    signs = [w >= form.sign for w in (a, b, c)]
    product_sign = signs[0] != signs[1]
    infinite = [code == form.infinity for code in codes]
    if max(codes) > form.infinity or (infinite[0] and not codes[1]) or (infinite[1] and not codes[0]):
        return form.quiet
    if infinite[0] or infinite[1]:
        opposite = infinite[2] and signs[2] != product_sign
        return form.quiet if opposite else form.infinity | form.sign * product_sign
    if infinite[2]:
        return c
    product, addend = form.magnitude(codes[0]) * form.magnitude(codes[1]), form.magnitude(codes[2])
    total = (-product if product_sign else product) + (-addend if signs[2] else addend)
    if not total:
        return form.sign * (product_sign and signs[2])
    return form.nearest(abs(total)) | form.sign * (total < 0)

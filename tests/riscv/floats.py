# SPDX-License-Identifier: Apache-2.0
"""IEEE 754 arithmetic said once more: exact rationals, rounded once. The oracle of the interpreter's integer
arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

NX, UF, OF, DZ, NV = 1, 2, 4, 8, 16
MODES = ("rne", "rtz", "rdn", "rup", "rmm")


@dataclass(frozen=True, slots=True)
class Real:
    """A finite number; zero has a sign."""

    value: Fraction
    negative: bool


@dataclass(frozen=True, slots=True)
class Infinite:
    negative: bool


@dataclass(frozen=True, slots=True)
class NotANumber:
    signaling: bool


Number = Real | Infinite | NotANumber
Answer = tuple[int, int]
"""Bits and flags."""


@dataclass(frozen=True, slots=True)
class Format:
    """`precision` counts the hidden bit; `greatest` is the greatest exponent."""

    letter: str
    bits: int
    precision: int

    @property
    def greatest(self) -> int:
        return (1 << self.bits - self.precision - 1) - 1

    @property
    def least(self) -> int:
        return 1 - self.greatest

    @property
    def infinity(self) -> int:
        return (2 * self.greatest + 1) << self.precision - 1

    @property
    def nan(self) -> int:
        return self.infinity | 1 << self.precision - 2

    def read(self, bits: int) -> Number:
        negative, magnitude = bool(bits >> self.bits - 1), bits % (1 << self.bits - 1)
        if magnitude >= self.infinity:
            return (
                NotANumber(not magnitude >> self.precision - 2 & 1) if magnitude > self.infinity else Infinite(negative)
            )
        biased, fraction = divmod(magnitude, 1 << self.precision - 1)
        significand = fraction + (1 << self.precision - 1) * (biased > 0)
        value = Fraction(significand) * Fraction(2) ** (max(biased, 1) - self.greatest - self.precision + 1)
        return Real(-value if negative else value, negative)

    def sign(self, negative: bool) -> int:
        return int(negative) << self.bits - 1

    def round(self, value: Fraction, mode: str, negative_zero: bool = False) -> Answer:
        """The nearest number in the direction of `mode`, and NX, UF, OF."""
        if value == 0:
            return self.sign(negative_zero), 0
        negative, size = value < 0, abs(value)
        exponent = _exponent(size)
        units, inexact = _integer(size / _power(max(exponent, self.least) - self.precision + 1), negative, mode)
        rounded = units * _power(max(exponent, self.least) - self.precision + 1)
        if rounded >= _power(self.greatest + 1):
            away = mode in ("rne", "rmm") or mode == ("rdn" if negative else "rup")
            return self.sign(negative) | (self.infinity - (not away)), OF | NX
        unbounded, _ = _integer(size / _power(exponent - self.precision + 1), negative, mode)
        tiny = unbounded * _power(exponent - self.precision + 1) < _power(self.least)
        flags = (NX | UF if tiny else NX) if inexact else 0
        if rounded < _power(self.least):
            return self.sign(negative) | units, flags
        exponent = _exponent(Fraction(rounded))
        significand = rounded / _power(exponent - self.precision + 1)
        return self.sign(negative) | (exponent + self.greatest) << self.precision - 1 | int(significand) % (
            1 << self.precision - 1
        ), flags


SINGLE, DOUBLE = Format("s", 32, 24), Format("d", 64, 53)


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def _exponent(value: Fraction) -> int:
    """e with 2**e <= value < 2**(e + 1)."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if value >= _power(guess) else guess - 1


def _integer(value: Fraction, negative: bool, mode: str) -> tuple[int, bool]:
    """A magnitude to an integer in the direction of `mode`, and whether it changed."""
    low, rest = value.numerator // value.denominator, value - value.numerator // value.denominator
    up = {
        "rne": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1),
        "rtz": False,
        "rdn": negative and rest > 0,
        "rup": not negative and rest > 0,
        "rmm": rest >= Fraction(1, 2),
    }[mode]
    return low + up, rest > 0


def _nan(form: Format, *numbers: Number) -> Answer | None:
    """The canonical NaN where an operand is one; NV where it signals."""
    nans = [n for n in numbers if isinstance(n, NotANumber)]
    return (form.nan, NV * any(n.signaling for n in nans)) if nans else None


def add(form: Format, mode: str, a: int, b: int) -> Answer:
    p, q = form.read(a), form.read(b)
    if (nan := _nan(form, p, q)) is not None:
        return nan
    if isinstance(p, Infinite) or isinstance(q, Infinite):
        if isinstance(p, Infinite) and isinstance(q, Infinite) and p.negative != q.negative:
            return form.nan, NV
        return (a if isinstance(p, Infinite) else b), 0
    assert isinstance(p, Real) and isinstance(q, Real)
    zero = p.negative if p.negative == q.negative else mode == "rdn"
    return form.round(p.value + q.value, mode, zero)


def subtract(form: Format, mode: str, a: int, b: int) -> Answer:
    return add(form, mode, a, b if isinstance(form.read(b), NotANumber) else b ^ form.sign(True))


def multiply(form: Format, mode: str, a: int, b: int) -> Answer:
    p, q = form.read(a), form.read(b)
    if (nan := _nan(form, p, q)) is not None:
        return nan
    assert not isinstance(p, NotANumber) and not isinstance(q, NotANumber)
    negative = p.negative != q.negative
    if isinstance(p, Infinite) or isinstance(q, Infinite):
        zero = (isinstance(p, Real) and p.value == 0) or (isinstance(q, Real) and q.value == 0)
        return (form.nan, NV) if zero else (form.sign(negative) | form.infinity, 0)
    return form.round(p.value * q.value, mode, negative)


def divide(form: Format, mode: str, a: int, b: int) -> Answer:
    p, q = form.read(a), form.read(b)
    if (nan := _nan(form, p, q)) is not None:
        return nan
    assert not isinstance(p, NotANumber) and not isinstance(q, NotANumber)
    negative = p.negative != q.negative
    if isinstance(p, Infinite):
        return (form.nan, NV) if isinstance(q, Infinite) else (form.sign(negative) | form.infinity, 0)
    if isinstance(q, Infinite):
        return form.sign(negative), 0
    if q.value == 0:
        return (form.nan, NV) if p.value == 0 else (form.sign(negative) | form.infinity, DZ)
    return form.round(p.value / q.value, mode, negative)


def fused(form: Format, mode: str, a: int, b: int, c: int) -> Answer:
    """a * b + c, rounded once."""
    p, q, r = form.read(a), form.read(b), form.read(c)
    factors = [n for n in (p, q) if not isinstance(n, NotANumber)]
    if any(isinstance(n, Infinite) for n in factors) and any(isinstance(n, Real) and n.value == 0 for n in factors):
        return form.nan, NV
    if (nan := _nan(form, p, q, r)) is not None:
        return nan
    negative = factors[0].negative != factors[1].negative
    if isinstance(p, Infinite) or isinstance(q, Infinite):
        return (
            (form.nan, NV)
            if isinstance(r, Infinite) and r.negative != negative
            else (form.sign(negative) | form.infinity, 0)
        )
    if isinstance(r, Infinite):
        return c, 0
    assert isinstance(p, Real) and isinstance(q, Real) and isinstance(r, Real)
    return form.round(p.value * q.value + r.value, mode, negative if negative == r.negative else mode == "rdn")


def fused_with(form: Format, mode: str, a: int, b: int, c: int, *, product: bool, addend: bool) -> Answer:
    """+-(a * b) +- c: whether the product and whether the addend are negated."""
    return fused(form, mode, _negated(form, a) if product else a, b, _negated(form, c) if addend else c)


def _negated(form: Format, a: int) -> int:
    return a if isinstance(form.read(a), NotANumber) else a ^ form.sign(True)


def square_root(form: Format, mode: str, a: int) -> Answer:
    p = form.read(a)
    if isinstance(p, NotANumber):
        return form.nan, NV * p.signaling
    if p.negative and not (isinstance(p, Real) and p.value == 0):
        return form.nan, NV
    if isinstance(p, Infinite) or p.value == 0:
        return a, 0
    scale = 2 * (form.bits + form.greatest)
    scaled = p.value * _power(2 * scale)
    root = isqrt(int(scaled))
    between = Fraction(2 * root + (root * root != scaled), 2)
    return form.round(between * _power(-scale), mode)


def to_integer(form: Format, mode: str, a: int, bits: int, signed: bool) -> Answer:
    """The integer, unsigned in `bits`."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    p = form.read(a)
    if not isinstance(p, Real):
        return (low if isinstance(p, Infinite) and p.negative else high) % (1 << bits), NV
    magnitude, inexact = _integer(abs(p.value), p.negative, mode)
    value = -magnitude if p.negative else magnitude
    if low <= value <= high:
        return value % (1 << bits), NX * inexact
    return (low if p.negative else high) % (1 << bits), NV


def convert(source: Format, form: Format, mode: str, a: int) -> Answer:
    p = source.read(a)
    if isinstance(p, NotANumber):
        return form.nan, NV * p.signaling
    return (
        (form.sign(p.negative) | form.infinity, 0) if isinstance(p, Infinite) else form.round(p.value, mode, p.negative)
    )


def _order(form: Format, a: int) -> tuple[Fraction, bool]:
    """A key by which numbers are ordered, -0 before +0."""
    p = form.read(a)
    assert not isinstance(p, NotANumber)
    return (p.value if isinstance(p, Real) else _power(2 * form.greatest) * (-1 if p.negative else 1)), not p.negative


def extreme(form: Format, greater: bool, a: int, b: int) -> Answer:
    p, q = form.read(a), form.read(b)
    flags = NV * any(isinstance(n, NotANumber) and n.signaling for n in (p, q))
    left = [bits for bits, n in ((a, p), (b, q)) if not isinstance(n, NotANumber)]
    pick = max if greater else min
    return (pick(left, key=lambda bits: _order(form, bits)) if left else form.nan), flags


def compare(form: Format, test: Callable[[Fraction, Fraction], bool], quiet: bool, a: int, b: int) -> Answer:
    numbers = form.read(a), form.read(b)
    nans = [n for n in numbers if isinstance(n, NotANumber)]
    if nans:
        return 0, NV * (not quiet or any(n.signaling for n in nans))
    return int(test(_order(form, a)[0], _order(form, b)[0])), 0


def classify(form: Format, a: int) -> int:
    p = form.read(a)
    if isinstance(p, NotANumber):
        return 1 << 8 if p.signaling else 1 << 9
    if isinstance(p, Infinite):
        return 1 << (0 if p.negative else 7)
    rank = 3 if p.value == 0 else 2 if abs(p.value) < _power(form.least) else 1
    return 1 << (rank if p.negative else 7 - rank)

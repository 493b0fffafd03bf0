# SPDX-License-Identifier: Apache-2.0
"""Floats of the machine in rational numbers: what the packed twin computes with. Written from the facts: subnormal
operands are zeros and set InputDenorm, a result below the least normal number is a zero and sets UF and NX before
anything is rounded, NaN results are canonical."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Final

NX, UF, OF, DZ, NV, DENORM = 1, 2, 4, 8, 16, 1 << 31
NAN: Final = 0x7FC00000
INF: Final = 0x7F800000
SIGN: Final = 0x80000000
RNE, RTZ, RDN, RUP, RMM = range(5)
_DIGITS: Final = Context(prec=80)


@dataclass
class Flags:
    """The flags that operations raise, bit 31 included."""

    bits: int = 0


def is_nan(a: int) -> bool:
    return a & 0x7FFFFFFF > INF


def is_signaling(a: int) -> bool:
    return is_nan(a) and not a & 0x400000


def is_inf(a: int) -> bool:
    return a & 0x7FFFFFFF == INF


def flushed(a: int, flags: Flags) -> int:
    if not a & INF and a & 0x7FFFFF:
        flags.bits |= DENORM
        return a & SIGN
    return a


def value(a: int) -> Fraction:
    """Of a finite number."""
    exponent, fraction = a >> 23 & 255, a & 0x7FFFFF
    magnitude = Fraction(fraction | 0x800000 if exponent else fraction) * Fraction(2) ** (max(exponent, 1) - 150)
    return -magnitude if a & SIGN else magnitude


def integral(v: Fraction, mode: int) -> int:
    low = v.numerator // v.denominator
    rest = v - low
    if not rest:
        return low
    if mode in (RNE, RMM) and rest != Fraction(1, 2):
        return low + (rest > Fraction(1, 2))
    if mode == RNE:
        return low + (low & 1)
    if mode == RMM:
        return low + (v > 0)
    return low + {RTZ: v < 0, RDN: False, RUP: True}[mode]


def rounded(v: Fraction, mode: int, flags: Flags, precision: int = 24, bits: int = 8) -> int:
    """A number that is not 0, to a format of `bits` bits of exponent."""
    bias = (1 << bits - 1) - 1
    sign = (v < 0) << bits + precision - 1
    exponent = _exponent(abs(v))
    if exponent < 1 - bias:
        flags.bits |= UF | NX
        return sign
    unit = Fraction(2) ** (exponent - precision + 1)
    significand = abs(integral(v / unit, mode))
    if significand * unit != abs(v):
        flags.bits |= NX
    if significand == 1 << precision:
        significand, exponent = significand >> 1, exponent + 1
    if exponent > bias:
        flags.bits |= OF | NX
        away = mode in (RNE, RMM) or mode == (RDN if v < 0 else RUP)
        infinite = ((1 << bits) - 1) << precision - 1
        return sign | (infinite if away else infinite - 1)
    return sign | (exponent + bias) << precision - 1 | significand - (1 << precision - 1)


def _exponent(v: Fraction) -> int:
    found = v.numerator.bit_length() - v.denominator.bit_length()
    return found if Fraction(2) ** found <= v else found - 1


def nan_of(flags: Flags, *operands: int) -> int:
    if any(is_signaling(a) for a in operands):
        flags.bits |= NV
    return NAN


def invalid(flags: Flags) -> int:
    flags.bits |= NV
    return NAN


def add(a: int, b: int, mode: int, flags: Flags) -> int:
    a, b = flushed(a, flags), flushed(b, flags)
    if is_nan(a) or is_nan(b):
        return nan_of(flags, a, b)
    if is_inf(a) or is_inf(b):
        return invalid(flags) if is_inf(a) and is_inf(b) and a != b else a if is_inf(a) else b
    return _total(value(a) + value(b), a & SIGN, b & SIGN, mode, flags)


def _total(v: Fraction, one: int, other: int, mode: int, flags: Flags) -> int:
    """The rounded sum of two numbers with these signs."""
    if v:
        return rounded(v, mode, flags)
    return one if one == other else SIGN if mode == RDN else 0


def sub(a: int, b: int, mode: int, flags: Flags) -> int:
    return add(a, b if is_nan(b) else b ^ SIGN, mode, flags)


def mul(a: int, b: int, mode: int, flags: Flags) -> int:
    a, b = flushed(a, flags), flushed(b, flags)
    if is_nan(a) or is_nan(b):
        return nan_of(flags, a, b)
    sign = (a ^ b) & SIGN
    if is_inf(a) or is_inf(b):
        return invalid(flags) if not a & ~SIGN or not b & ~SIGN else sign | INF
    v = value(a) * value(b)
    return rounded(v, mode, flags) if v else sign


def fma(a: int, b: int, c: int, mode: int, flags: Flags) -> int:
    a, b, c = flushed(a, flags), flushed(b, flags), flushed(c, flags)
    if (is_inf(a) and not b & ~SIGN) or (is_inf(b) and not a & ~SIGN):
        return invalid(flags)
    if is_nan(a) or is_nan(b) or is_nan(c):
        return nan_of(flags, a, b, c)
    sign = (a ^ b) & SIGN
    if is_inf(a) or is_inf(b):
        return invalid(flags) if is_inf(c) and c & SIGN != sign else sign | INF
    if is_inf(c):
        return c
    return _total(value(a) * value(b) + value(c), sign, c & SIGN, mode, flags)


def extreme(a: int, b: int, greater: bool, flags: Flags) -> int:
    """IEEE 754-2019's maximumNumber or minimumNumber, without a flush."""
    if is_signaling(a) or is_signaling(b):
        flags.bits |= NV
    if is_nan(a) or is_nan(b):
        return NAN if is_nan(a) and is_nan(b) else b if is_nan(a) else a
    a_first = (_ordered(a) > _ordered(b)) if greater else (_ordered(a) < _ordered(b))
    return a if a_first else b


def _ordered(a: int) -> int:
    return -(a & ~SIGN) - 1 if a & SIGN else a


def compare(a: int, b: int, how: str, flags: Flags) -> bool:
    a, b = flushed(a, flags), flushed(b, flags)
    if is_nan(a) or is_nan(b):
        if how != "eq" or is_signaling(a) or is_signaling(b):
            flags.bits |= NV
        return False
    x, y = (-1 if v & SIGN else 1 for v in (a, b))
    p = x * 2**200 if is_inf(a) else value(a)
    q = y * 2**200 if is_inf(b) else value(b)
    return {"eq": p == q, "lt": p < q, "le": p <= q}[how]


def to_integer(a: int, mode: int, signed: bool, flags: Flags) -> int:
    a = flushed(a, flags)
    low, high = (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1)
    if is_nan(a) or is_inf(a):
        flags.bits |= NV
        return (low if a & SIGN and not is_nan(a) else high) & 0xFFFFFFFF
    v = value(a)
    made = integral(v, mode)
    if not low <= made <= high:
        flags.bits |= NV
        return (low if made < low else high) & 0xFFFFFFFF
    if made != v:
        flags.bits |= NX
    return made & 0xFFFFFFFF


def round_to_integral(a: int, mode: int, flags: Flags) -> int:
    a = flushed(a, flags)
    if is_nan(a):
        return nan_of(flags, a)
    if is_inf(a) or not a & ~SIGN:
        return a
    made = integral(value(a), mode)
    if made != value(a):
        flags.bits |= NX
    return rounded(Fraction(made), RNE, Flags()) if made else a & SIGN


def fraction(a: int, flags: Flags) -> int:
    a = flushed(a, flags)
    if is_nan(a):
        return nan_of(flags, a)
    rest = Fraction(0) if is_inf(a) else abs(value(a)) % 1
    return a & SIGN | (rounded(rest, RNE, Flags()) if rest else 0)


def from_half(a: int, flags: Flags) -> int:
    sign, exponent, significand = (a & 0x8000) << 16, a >> 10 & 31, a & 0x3FF
    if exponent == 31:
        return nan_of(flags, NAN if significand & 0x200 else 0x7F800001) if significand else sign | INF
    if not exponent:
        flags.bits |= DENORM if significand else 0
        return sign
    return sign | exponent + 112 << 23 | significand << 13


def to_half(a: int, mode: int, flags: Flags) -> int:
    a = flushed(a, flags)
    if is_nan(a):
        nan_of(flags, a)
        return 0x7E00
    if is_inf(a) or not a & ~SIGN:
        return a >> 16 & 0x8000 | (0x7C00 if is_inf(a) else 0)
    return rounded(value(a), mode, flags, 11, 5)


def transcendental(a: int, which: str, flags: Flags) -> int:
    a = flushed(a, flags)
    if is_nan(a):
        return nan_of(flags, a)
    return {"exp": _exp2, "log": _log2, "rcp": _reciprocal}[which](a, flags)


def _exp2(a: int, flags: Flags) -> int:
    del flags
    if is_inf(a) or value(a) >= 128 or value(a) < -126:
        return 0 if a & SIGN else INF
    v = value(a)
    return (
        _nearest(_DIGITS.power(Decimal(2), _decimal(v)))
        if v.denominator != 1
        else rounded(Fraction(2) ** int(v), RNE, Flags())
    )


def _log2(a: int, flags: Flags) -> int:
    if not a & ~SIGN:
        return SIGN | INF
    if a & SIGN:
        return invalid(flags)
    if is_inf(a):
        return a
    if not a & 0x7FFFFF:
        power = (a >> 23) - 127
        return rounded(Fraction(power), RNE, Flags()) if power else 0
    return _nearest(_DIGITS.divide(_decimal(value(a)).ln(_DIGITS), Decimal(2).ln(_DIGITS)))


def _reciprocal(a: int, flags: Flags) -> int:
    if not a & ~SIGN:
        flags.bits |= DZ
        return a | INF
    if is_inf(a) or abs(value(a)) > 2**126:
        return a & SIGN
    return rounded(1 / value(a), RNE, Flags())


def _decimal(v: Fraction) -> Decimal:
    return _DIGITS.divide(Decimal(v.numerator), Decimal(v.denominator))


def _nearest(v: Decimal) -> int:
    return rounded(Fraction(v), RNE, Flags())

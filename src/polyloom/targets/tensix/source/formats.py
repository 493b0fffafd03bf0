# SPDX-License-Identifier: Apache-2.0
"""Number formats of vector kernels: FP32, FP16 of five and of eight bits of exponent (fp16a, fp16b), and the eight bits
of SFPLUT (lut8); exactly, over fractions.

`fp16a` is what SFPLOADI and the tables read: every exponent is one, so that there is no zero, no infinity and nothing
below 2^-15 (ISA documentation, page of `SFPLOADI`: mode 1 adds 112 to the exponent and looks at nothing). In Dst the
same bits are numbers of IEEE 754, but for the largest exponent, which is one more binade.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import inf, isinf, isnan, nan
from typing import Final, Literal

Form = Literal["fp32", "fp16a", "fp16b", "lut8"]
FORMS: Final[tuple[Form, ...]] = ("fp32", "fp16b", "fp16a", "lut8")
BITS: Final[dict[Form, int]] = {"fp32": 32, "fp16b": 16, "fp16a": 16, "lut8": 8}
CONSTANTS: Final = {0x3F56594B: "L8", 0x00000000: "L9", 0x3F800000: "L10", 0xBF800000: "L11"}
"""Registers that hold a constant, L11 by contract."""
LUT_ZERO: Final = 0x7C00
"""In the tables of SFPLUTFP32 an FP16 of the largest exponent is 0."""
_HUGE: Final = re.compile(r"[eE][+-]?[0-9_]{5}")
_LONGEST: Final = 1000
"""Longer ones take time that nobody means."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number. `value` is a fraction, or None of what is no number: then `special` is inf or nan."""

    negative: bool
    value: Fraction | None
    special: float = 0.0

    def __float__(self) -> float:
        found = self.special if self.value is None else to_double(self.value)
        return -found if self.negative else found

    @property
    def signed(self) -> Fraction:
        """Of what is a number."""
        assert self.value is not None
        return -self.value if self.negative else self.value


@dataclass(frozen=True, slots=True)
class Encoded:
    """A number in a format: the nearest value, and whether it is the number itself."""

    bits: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Load:
    """An SFPLOADI: its mode and immediate."""

    mode: int
    immediate: int


def to_double(value: Fraction) -> float:
    """Double nearest to a fraction; infinite beyond the range of doubles."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def parse_number(text: str) -> Number | None:
    """Number of decimal text, or None of what is none; `1/3` and `-0.0` are."""
    # A fraction with an exponent of millions would fill the memory before it is refused.
    if _HUGE.search(text) or len(text) > _LONGEST:
        return None
    try:
        # Fractions are exact, so that rounding happens once, in the format that is asked for.
        found = float(text) if text.lower().lstrip("+-") in ("inf", "nan", "infinity") else Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None
    negative = text.strip().startswith("-")
    if isinstance(found, float):
        return Number(negative, None, nan if isnan(found) else inf)
    return Number(negative, Fraction(abs(found)))


def decode_bits(bits: int, form: Form) -> Number:
    """Number that bits of a format are worth."""
    if form == "lut8":
        if bits == 0xFF:
            return Number(False, Fraction(0))
        return Number(bool(bits >> 7), Fraction(16 + (bits & 15), 16) / (1 << (bits >> 4 & 7)))
    if form == "fp16a":
        return Number(bool(bits >> 15), Fraction(1024 + (bits & 0x3FF), 1024) * _binary_power((bits >> 10 & 31) - 15))
    exponent, mantissa, width = _split_bits(bits, form)
    negative = bool(bits >> (BITS[form] - 1))
    if exponent == 255:
        return Number(negative, None, nan if mantissa else inf)
    whole = Fraction(mantissa + (1 << width if exponent else 0), 1 << width)
    return Number(negative, whole * _binary_power(max(exponent, 1) - 127))


def decode_dst(bits: int) -> Number:
    """Number that an FP16 of five bits of exponent is worth in Dst, where denormals are; they load as FP32's (ISA
    documentation, page of `SFPLOAD`).
    """
    if bits >> 10 & 31:
        return decode_bits(bits, "fp16a")
    return Number(bool(bits >> 15), Fraction(bits & 0x3FF, 1024) * _binary_power(-14))


def encode_number(given: Number, form: Form) -> Encoded | None:
    """Encoding of a number: the nearest bits, ties to even; None of infinities and NaNs where the format has none."""
    if form in ("fp32", "fp16b"):
        return _encode_ieee(given, form)
    if given.value is None:
        return None
    if form == "lut8":
        # Eight bits have 256 values, of which all are looked at.
        return _nearest_value(given, _lut_values())
    return _encode_fp16a(given)


def single_loads(bits: int) -> Iterator[Load]:
    """Every single SFPLOADI that puts these 32 bits into a register (ISA documentation, page of `SFPLOADI`)."""
    if not bits & 0xFFFF:
        yield Load(0, bits >> 16)
    exponent = (bits >> 23 & 255) - 112
    if not bits & 0x1FFF and 0 <= exponent < 32:
        yield Load(1, bits >> 31 << 15 | exponent << 10 | bits >> 13 & 0x3FF)
    if bits < 1 << 16:
        yield Load(2, bits)
    if bits < 1 << 15 or bits >= 0xFFFF8000:
        yield Load(4, bits & 0xFFFF)


def load_pair(bits: int) -> tuple[Load, Load]:
    """Two SFPLOADI that do so for any bits: the low half, then the high one."""
    return Load(10, bits & 0xFFFF), Load(8, bits >> 16)


def table_register(slope: Number, offset: Number, form: Form) -> int | None:
    """Register of a lookup table for one interval: slope·|x| + offset. None where a number has no such form (ISA
    documentation, page of `SFPLUT` and page of `SFPLUTFP32`).
    """
    codes = [_table_entry(each, form) for each in (slope, offset)]
    if codes[0] is None or codes[1] is None:
        return None
    width = 8 if form == "lut8" else 16
    return codes[0] << width | codes[1]


def _table_entry(given: Number, form: Form) -> int | None:
    if form == "fp16a" and given.value == 0:
        return LUT_ZERO
    found = encode_number(given, form)
    return None if found is None else found.bits


def _binary_power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def _split_bits(bits: int, form: Form) -> tuple[int, int, int]:
    """Exponent, mantissa and bits of the mantissa of a format with eight bits of exponent."""
    width = BITS[form] - 9
    return bits >> width & 255, bits & (1 << width) - 1, width


def _encode_ieee(given: Number, form: Form) -> Encoded:
    """Encoding with IEEE 754's subnormals and infinities, rounded to nearest even in one step."""
    width = BITS[form] - 9
    sign = given.negative << (BITS[form] - 1)
    if given.value is None:
        mantissa = 1 << (width - 1) if isnan(given.special) else 0
        return Encoded(sign | 255 << width | mantissa, True)
    exponent = max(_leading_exponent(given.value), -126)
    scaled = given.value / _binary_power(exponent - width)
    rounded = round(scaled)  # ties to even
    # A mantissa that rounds up to the next power of two carries into the exponent by itself.
    bits = rounded if rounded < 1 << width else rounded + ((exponent + 126) << width)
    bits = min(bits, 255 << width)
    return Encoded(sign | bits, rounded == scaled and bits < 255 << width)


def _encode_fp16a(given: Number) -> Encoded:
    assert given.value is not None
    sign = given.negative << 15
    # The least exponent is -15, and there are no denormals below it: the mantissa always has a hidden one.
    exponent = max(_leading_exponent(given.value), -15)
    rounded = round(given.value / _binary_power(exponent - 10))
    bits = min(max(rounded + ((exponent + 14) << 10), 0), 0x7FFF)
    return Encoded(sign | bits, decode_bits(bits, "fp16a").value == given.value)


def _leading_exponent(value: Fraction) -> int:
    """Exponent of the leading bit; that of 0 is below all others."""
    if not value:
        return -(1 << 16)
    # The difference of the bit lengths is the exponent or one more.
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if value >= _binary_power(guess) else guess - 1


def _nearest_value(given: Number, values: tuple[tuple[Fraction, int], ...]) -> Encoded:
    assert given.value is not None
    wanted = given.signed
    value, bits = min(values, key=lambda pair: (abs(pair[0] - wanted), pair[1] & 1))
    return Encoded(bits, value == wanted)


@cache
def _lut_values() -> tuple[tuple[Fraction, int], ...]:
    """Values of the eight bits of SFPLUT, all of them."""
    found = [(decode_bits(bits, "lut8"), bits) for bits in range(256)]
    return tuple((number.signed, bits) for number, bits in found)


def format_number(given: Number) -> str:
    """Text of a number for people: exact where it is short."""
    value = float(given)
    return str(value) if isinf(value) or isnan(value) else f"{value:.9g}"

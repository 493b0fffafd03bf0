# SPDX-License-Identifier: Apache-2.0
"""Semantics of the operations on vectors: exact integers over arrays of patterns whose last axis is the 32 lanes.

    compute("sfpmad", [a, b, c, 0], "wormhole") -> (a·b + c,)

Operands are arrays of uint32 and numbers, in the order of the table; results are a tuple. What acts on state (regions,
Dst, registers) is in interpret.py. Source: the public ISA documentation of the vector unit, one page per instruction,
as docs/targets/tensix.md has it; no code is shared with the native model, nor with the compiler's passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tensix.source.oracle import rounding, tables
from polyloom.targets.tensix.source.oracle.multiply import multiply_add
from polyloom.targets.tensix.source.oracle.rounding import FRACTION, SIGN, Numbers, Words, bit_length, wrap_32
from polyloom.targets.tensix.words.isa import Member

Truths = NDArray[np.bool_]
LT, LE, EQ, NE, GE, GT = range(6)
_ROWS: Final = 4
_ONE, _MINUS_ONE = 0x3F800000, 0xBF800000
_MINIMUM: Final = ("", "0123", "01", "02", "03", "0", "1", "2", "3", "")
"""By SFPSWAP's mode: the rows of lanes whose first result is the smaller."""
RANDOM: Final = frozenset({"rand", "sfpcast", "sfpstochrnd_i", "sfpstochrnd_v"})
"""Operations that can draw numbers."""


def draws_random(name: str, operands: Sequence[Any]) -> bool:
    """Whether the operation takes a number from each lane's generator."""
    if name == "sfpcast":
        return operands[1] == 1
    return name == "rand" or (name in RANDOM and operands[-1] == rounding.STOCHASTIC)


def compute(
    name: str, operands: Sequence[Any], member: Member, random: Words | None = None
) -> tuple[NDArray[np.uint32], ...]:
    """Results of an operation that has no state; `random` are the numbers drawn, where `draws_random` says so."""
    made = _dispatch(name, operands, member, random)
    return tuple(bits.astype(np.uint32, copy=False) for bits in (made if isinstance(made, tuple) else (made,)))


def _dispatch(name: str, operands: Sequence[Any], member: Member, random: Words | None) -> Words | tuple[Words, ...]:
    if name == "rand":
        return np.zeros(1, np.uint32) if random is None else random
    if name == "sfpcast":
        return rounding.cast(operands[0], operands[1], random)
    if name in RANDOM:
        value, descale, mode, how = operands
        numbers = np.zeros_like(value) if random is None else random
        return rounding.stochastic_rounding(value, np.asarray(descale) & 31, mode, how, numbers)
    return _LANEWISE[name](member == "blackhole", operands)


def splat(bits: int) -> Words:
    """Splat: one value in 32 lanes."""
    return np.full(32, bits & 0xFFFFFFFF, np.uint32)


def widen_immediate(bits: int, mode: int) -> int:
    """Value of SFPLOADI's 16 bits: BF16, FP16 (of exponents alone), unsigned, signed (ISA documentation, page of
    `SFPLOADI`).
    """
    bits &= 0xFFFF
    if mode == 0:
        return bits << 16
    if mode == 1:
        return (bits & 0x8000) << 16 | ((bits >> 10 & 31) + 112) << 23 | (bits & 0x3FF) << 13
    return (bits | 0xFFFF0000) if mode == 4 and bits >> 15 else bits


def step_random(state: Words) -> Words:
    """Linear-feedback shift register of a lane: the parity of four bits, inverted, comes in from the left (ISA
    documentation, page of `SFPMOV`, random numbers).
    """
    taps = state & np.uint32(0x80200003)
    parity = (taps >> 31) ^ (taps >> 21) ^ (taps >> 1) ^ taps
    return (state >> 1) | ((~parity & np.uint32(1)) << 31)


def lane_seeds(value: int) -> Words:
    """Seeds of the generators: by lane the seed rotated left by the lane's number."""
    return np.array([(value << k | value >> (32 - k)) & 0xFFFFFFFF for k in range(32)], np.uint32)


def compare_bits(name: str, condition: int, a: Words, b: Words, member: Member) -> Truths:
    """Comparisons `cmp_f`, `cmp_i` and `cmp_u`: of floats the sign and the bits of SFPMAD(b, −1, a) decide, as the
    vendor's compiler has it; of integers those of the wrapping difference; unsigned ones exactly.
    """
    if name == "cmp_u":
        return _relation(condition, a < b, a == b)
    difference = a - b
    if name == "cmp_f":
        difference = multiply_add(b, np.full_like(b, _MINUS_ONE), a, member == "blackhole")
    return compare_with_zero(condition, difference)


def compare_with_zero(condition: int, bits: Words) -> Truths:
    """Comparison with 0 by the raw bits: the sign, and whether there is any (ISA documentation, page of `SFPSETCC`)."""
    return _relation(condition, bits >> 31 != 0, bits == 0)


def _relation(condition: int, less: Truths, equal: Truths) -> Truths:
    positive = {LT: less, LE: less | equal, EQ: equal}
    return positive[condition] if condition in positive else ~positive[{GE: LT, GT: LE, NE: EQ}[condition]]


def _operand_bits(value: Words | int) -> Words:
    """A scalar operand as bits."""
    return value if isinstance(value, np.ndarray) else np.array(value & 0xFFFFFFFF, np.uint32)


def _mad(blackhole: bool, a: Words, b: Words, c: Words, mod: int = 0) -> Words:
    """SFPMAD, with negated operands by mode on Blackhole (ISA documentation, page of `SFPMAD`)."""
    a = a ^ np.uint32(SIGN) if mod & 1 else a
    c = c ^ np.uint32(SIGN) if mod & 2 else c
    return multiply_add(a, b, c, blackhole)


def _constant(like: Words, bits: int) -> Words:
    return np.full_like(like, bits)


def _absolute(a: Words, mod: int) -> Words:
    """SFPABS: integer in mode 0, float in mode 1, where a negative NaN stays (ISA documentation, page of `SFPABS`)."""
    return np.where(a > 0xFF800000, a, a & ~np.uint32(SIGN)) if mod else rounding.magnitude(a)


def _approximate(a: Words, mod: int) -> Words:
    """SFPARECIP: 1/a in mode 0, e to the |a| in mode 2; both with a's sign (Blackhole)."""
    magnitude = (a & ~np.uint32(SIGN)).astype(np.int64)
    return wrap_32(_exponential(magnitude) if mod else _reciprocal(magnitude)) | (a & np.uint32(SIGN))


def _reciprocal(magnitude: Numbers) -> Numbers:
    """Reciprocal table: seven bits of 1/x, of the middle of an interval of x, rounded; infinite and zero beyond the
    exponents.
    """
    divisor = 257 + 2 * (magnitude >> 16 & 127)
    mantissa = (2 * 128 * 512 + divisor) // (2 * divisor) - 128
    made = ((253 - (magnitude >> 23)) << 23) + (mantissa << 16)
    return np.where(magnitude < 0x00800000, 0x7F800000, np.where(magnitude >= 0x7E800000, 0, made))


_FIRST, _BEYOND = 0x3C80, 0x4000


@cache
def _exponential_table() -> Numbers:
    """Table of e to the x: upper halves, truncated, by the upper half of x from 1/64 to 2."""
    found: list[int] = []
    for upper in range(_FIRST, _BEYOND):
        x = Fraction(128 + (upper & 127), 128) * Fraction(2) ** ((upper >> 7) - 127)
        power = (Decimal(x.numerator) / Decimal(x.denominator)).exp()
        exponent = 0 if power < 2 else 1 if power < 4 else 2
        found.append((127 + exponent) << 7 | int(power / 2**exponent * 128) & 127)
    return np.array(found, np.int64)


def _exponential(magnitude: Numbers) -> Numbers:
    """Exponential by the table: the lower half stays as it is; beyond the table the ends are repeated."""
    upper = magnitude >> 16
    power = _exponential_table()[np.clip(upper, _FIRST, _BEYOND - 1) - _FIRST]
    power = np.where(upper < _FIRST, 0x3F81, np.where(upper >= _BEYOND, 0x4080, power))
    return np.where(magnitude < 0x00800000, 0x3F800000, power << 16 | (magnitude & 0xFFFF))


def _exponent(a: Words, mod: int) -> Words:
    """SFPEXEXP: the exponent without its bias, or raw in mode 1 (ISA documentation, page of `SFPEXEXP`)."""
    return (a >> 23 & np.uint32(255)) - np.uint32(0 if mod else 127)


def _mantissa(a: Words, mod: int) -> Words:
    """SFPEXMAN: the mantissa with its hidden bit, or without it in mode 1 (ISA documentation, page of `SFPEXMAN`)."""
    return (a & np.uint32(FRACTION)) | np.uint32(0 if mod else FRACTION + 1)


def _set_exponent(a: Words, exponent: Words | int, mod: int) -> Words:
    """SFPSETEXP: sign and mantissa of one operand, exponent of another, or a number (ISA documentation, page of
    `SFPSETEXP`).
    """
    given = _operand_bits(exponent) >> 23 if mod & 2 else _operand_bits(exponent)
    return (a & np.uint32(SIGN | FRACTION)) | (given & np.uint32(255)) << 23


def _set_mantissa(a: Words, mantissa: Words | int) -> Words:
    """SFPSETMAN (ISA documentation, page of `SFPSETMAN`)."""
    return (a & ~np.uint32(FRACTION)) | (_operand_bits(mantissa) & np.uint32(FRACTION))


def _set_sign(a: Words, sign: Words) -> Words:
    """SFPSETSGN (ISA documentation, page of `SFPSETSGN`)."""
    return (a & ~np.uint32(SIGN)) | (sign & np.uint32(SIGN))


def _divide(a: Words, exponent: int, mod: int) -> Words:
    """SFPDIVP2: the exponent replaced, or added to modulo 256 unless it is 255 (ISA documentation, page of
    `SFPDIVP2`)."""
    old = a >> 23 & np.uint32(255)
    made = np.where(old == 255, old, old + _operand_bits(exponent)) if mod else _operand_bits(exponent)
    return (a & np.uint32(SIGN | FRACTION)) | (made & np.uint32(255)).astype(np.uint32) << 23


def _shift(a: Words, amount: Words | int, mod: int) -> Words:
    """SFPSHFT by the low five bits of the amount or of its negation (ISA documentation, page of `SFPSHFT`); arithmetic
    to the right in Blackhole's mode 2.
    """
    by = np.broadcast_to(_operand_bits(amount), a.shape)
    right = (np.uint32(0) - by) & np.uint32(31)
    down = (a.view(np.int32) >> right.view(np.int32)).view(np.uint32) if mod & 2 else a >> right
    return np.where(by >> 31, down, a << (by & np.uint32(31))).astype(np.uint32)


def _leading_zeros(a: Words, mod: int) -> Words:
    """SFPLZ: leading zeros, of the magnitude in mode 4 (ISA documentation, page of `SFPLZ`)."""
    seen = a.astype(np.int64) & (0x7FFFFFFF if mod & 4 else 0xFFFFFFFF)
    return wrap_32(32 - bit_length(seen))


def _product_24(a: Words, b: Words, mod: int) -> Words:
    """SFPMUL24 of Blackhole: low or high 23 bits of a product of 23-bit integers."""
    whole = (a.astype(np.int64) & FRACTION) * (b.astype(np.int64) & FRACTION)
    return wrap_32(whole >> (23 if mod else 0) & FRACTION)


def _total_order(a: Words) -> NDArray[np.int32]:
    """Total order of sign and magnitude: −NaN < −Inf < … < −0 < +0 < … < +NaN (ISA documentation, page of
    `SFPSWAP`)."""
    signed = a.view(np.int32)
    return np.where(signed < 0, signed ^ np.int32(0x7FFFFFFF), signed)


def _swap(a: Words, b: Words, mod: int) -> tuple[Words, Words]:
    """SFPSWAP: the first result is VD, which the first operand is; named rows get the minimum there (ISA documentation,
    page of `SFPSWAP`).
    """
    if mod == 0:
        return b, a
    smaller = _total_order(b) < _total_order(a)
    first = np.repeat([str(row) in _MINIMUM[mod] for row in range(_ROWS)], 8)
    swaps = smaller == first
    return np.where(swaps, b, a), np.where(swaps, a, b)


def _transpose(registers: Sequence[Words]) -> tuple[Words, ...]:
    """SFPTRANSP: row j of register i is exchanged with row i of register j (ISA documentation, page of `SFPTRANSP`)."""
    stack = np.stack([r.reshape(*r.shape[:-1], _ROWS, 8) for r in registers], axis=-3)
    return tuple(
        np.ascontiguousarray(made).reshape(registers[0].shape)
        for made in np.moveaxis(np.swapaxes(stack, -3, -2), -3, 0)
    )


def rotate_rows(value: Words, first: Words) -> Words:
    """Row rotation of SFPSHFT2: each row of lanes moved right by one; its first lane gets the row's last of `first`
    (ISA documentation, page of `SFPSHFT2`).
    """
    rows, wrapped = (v.reshape(*v.shape[:-1], _ROWS, 8) for v in (value, first))
    return np.concatenate([wrapped[..., 7:], rows[..., :7]], axis=-1).reshape(value.shape)


_LANEWISE: Final[dict[str, Callable[[bool, Sequence[Any]], Words | tuple[Words, ...]]]] = {
    "splat": lambda _, g: splat(g[0]),
    "sfploadi": lambda _, g: splat(widen_immediate(g[0], g[1])),
    "sfpmad": lambda blackhole, g: _mad(blackhole, *g),
    "sfpmul": lambda blackhole, g: _mad(blackhole, g[0], g[1], _constant(g[0], 0), g[2]),
    "sfpadd": lambda blackhole, g: _mad(blackhole, g[0], _constant(g[0], _ONE), g[1], g[2]),
    "sfpsub": lambda blackhole, g: _mad(blackhole, g[1], _constant(g[1], _MINUS_ONE), g[0]),
    "sfpmov": lambda _, g: g[0] ^ np.uint32(SIGN) if g[1] else g[0],
    "sfpabs": lambda _, g: _absolute(g[0], g[1]),
    "sfparecip": lambda _, g: _approximate(g[0], g[1]),
    "sfpexexp": lambda _, g: _exponent(g[0], g[1]),
    "sfpexman": lambda _, g: _mantissa(g[0], g[1]),
    "sfpsetexp_i": lambda _, g: _set_exponent(g[0], g[1], g[2]),
    "sfpsetexp_v": lambda _, g: _set_exponent(g[0], g[1], g[2]),
    "sfpsetman_i": lambda _, g: _set_mantissa(g[0], g[1]),
    "sfpsetman_v": lambda _, g: _set_mantissa(g[0], g[1]),
    "sfpsetsgn_i": lambda _, g: _set_sign(g[0], _operand_bits(g[1]) << 31),
    "sfpsetsgn_v": lambda _, g: _set_sign(g[0], g[1]),
    "sfpdivp2": lambda _, g: _divide(g[0], g[1], g[2]),
    "sfpiadd_v": lambda _, g: g[1] - g[0] if g[2] & 2 else g[0] + g[1],
    "sfpiadd_i": lambda _, g: g[0] + _operand_bits(g[1]),
    "sfpand": lambda _, g: g[0] & g[1],
    "sfpor": lambda _, g: g[0] | g[1],
    "sfpxor": lambda _, g: g[0] ^ g[1],
    "sfpnot": lambda _, g: ~g[0],
    "sfpshft_v": lambda _, g: _shift(g[0], g[1], g[2]),
    "sfpshft_i": lambda _, g: _shift(g[0], g[1], g[2]),
    "sfplz": lambda _, g: _leading_zeros(g[0], g[1]),
    "sfpmul24": lambda _, g: _product_24(g[0], g[1], g[2]),
    "sfplut": lambda blackhole, g: tables.lookup_8_bits(g[:3], g[3], g[4], blackhole),
    "sfplutfp32_3r": lambda blackhole, g: tables.lookup_32_bits(g[:3], g[3], g[4], blackhole),
    "sfplutfp32_6r": lambda blackhole, g: tables.lookup_32_bits(g[:6], g[6], g[7], blackhole),
    "sfpswap": lambda _, g: _swap(g[0], g[1], g[2]),
    "sfptransp": lambda _, g: _transpose(g),
}

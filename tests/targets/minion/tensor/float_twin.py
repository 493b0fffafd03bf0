# SPDX-License-Identifier: Apache-2.0
"""Single precision as the Minion has it, on arrays of bits: the twin that the native arithmetic is compared with.

It is written from the facts alone and shares no method with the model, which computes in integers or on the host's
unit: here sums are float64 rounded to odd, from which one rounding to 24 bits is exact. Subnormal operands are zeros of
their sign; what is below 2^-126 before rounding becomes a zero of its sign; NaNs are canonical.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint32]
Reals = NDArray[np.float64]
Bools = NDArray[np.bool_]

NX, UF, OF, DZ, NV, ID = 1, 2, 4, 8, 16, 1 << 31
RNE, RTZ, RDN, RUP, RMM = range(5)
SIGN: Final = np.uint32(1 << 31)
INFINITE: Final = np.uint32(0x7F800000)
LARGEST: Final = np.uint32(0x7F7FFFFF)
NAN: Final = np.uint32(0x7FC00000)


def flag(where: Bools, which: int) -> Bits:
    return np.where(where, np.uint32(which), np.uint32(0))


def is_nan(a: Bits) -> Bools:
    return (a & ~SIGN) > INFINITE


def is_signaling(a: Bits) -> Bools:
    return is_nan(a) & ((a & np.uint32(1 << 22)) == 0)


def is_infinite(a: Bits) -> Bools:
    return (a & ~SIGN) == INFINITE


def is_zero(a: Bits) -> Bools:
    return (a & ~SIGN) == 0


def flushed(a: Bits) -> tuple[Bits, Bits]:
    """Subnormal operands as zeros, and the flag."""
    subnormal = ((a & INFINITE) == 0) & ((a & np.uint32(0x7FFFFF)) != 0)
    return np.where(subnormal, a & SIGN, a), flag(subnormal, ID)


def real(a: Bits) -> Reals:
    """Finite values; others are 1, and their results are not used."""
    finite = (a & INFINITE) != INFINITE
    return np.where(finite, a, np.uint32(0x3F800000)).view(np.float32).astype(np.float64)


def odd_sum(a: Reals, b: Reals) -> Reals:
    """a + b, rounded to odd: the error of the rounded sum is known exactly."""
    rounded = a + b
    part = rounded - a
    error = (a - (rounded - part)) + (b - part)
    bits = rounded.view(np.int64)
    away = (error > 0) == (rounded > 0)
    moved = np.where(away, bits + 1, bits - 1)
    return np.where((error != 0) & (bits & 1 == 0), moved, bits).view(np.float64)


def goes_up(negative: Bools, kept: NDArray[np.int64], rest: NDArray[np.int64], half: int, mode: int) -> Bools:
    match mode:
        case 0:
            return (rest > half) | ((rest == half) & (kept & 1 == 1))
        case 4:
            return rest >= half
        case 2:
            return negative & (rest != 0)
        case 3:
            return ~negative & (rest != 0)
        case _:
            return np.zeros(rest.shape, dtype=np.bool_)


def narrow(value: Reals, mode: int) -> tuple[Bits, Bits]:
    """Values that are not 0 to single precision; they are exact, or rounded to odd."""
    bits = value.view(np.int64)
    negative = bits < 0
    exponent = (bits >> 52 & 2047) - 1023
    significand = bits & ((1 << 52) - 1) | 1 << 52
    kept, rest = significand >> 29, significand & ((1 << 29) - 1)
    tiny = exponent < -126
    kept = kept + goes_up(negative, kept, rest, 1 << 28, mode).astype(np.int64)
    exponent = exponent + (kept >> 24)
    huge = ~tiny & (exponent > 127)
    to_infinity = negative if mode == RDN else ~negative if mode == RUP else np.full(huge.shape, mode in (RNE, RMM))
    biased: NDArray[np.int64] = exponent + 127
    made = (biased << 23 | kept & 0x7FFFFF).astype(np.uint32)
    made = np.where(huge, np.where(to_infinity, INFINITE, LARGEST), made)
    made = np.where(tiny, np.uint32(0), made) | np.where(negative, SIGN, np.uint32(0))
    return made.astype(np.uint32), flag(rest != 0, NX) | flag(tiny, UF | NX) | flag(huge, OF | NX)


def zero_sum(a: Bits, b: Bits, mode: int) -> Bits:
    """The zero that two addends of these signs give, zeros or equal magnitudes."""
    same = (a & SIGN) == (b & SIGN)
    return np.where(same & is_zero(a), a & SIGN, SIGN if mode == RDN else np.uint32(0))


def choose(cases: list[tuple[Bools, Bits | np.uint32, Bits | int]], other: tuple[Bits, Bits]) -> tuple[Bits, Bits]:
    """The result and flags of the first case that holds, element by element."""
    made, flags = other
    for holds, bits, raised in reversed(cases):
        made, flags = np.where(holds, bits, made), np.where(holds, np.asarray(raised, np.uint32), flags)
    return made.astype(np.uint32), flags.astype(np.uint32)


def finite(value: Reals, zero: Bits, mode: int) -> tuple[Bits, Bits]:
    made, flags = narrow(np.where(value == 0, 1.0, value), mode)
    return np.where(value == 0, zero, made), np.where(value == 0, np.uint32(0), flags)


def add(a: Bits, b: Bits, mode: int) -> tuple[Bits, Bits]:
    (a, a_flags), (b, b_flags) = flushed(a), flushed(b)
    cases: list[tuple[Bools, Bits | np.uint32, Bits | int]] = [
        (is_nan(a) | is_nan(b), NAN, flag(is_signaling(a) | is_signaling(b), NV)),
        (is_infinite(a) & is_infinite(b) & (a != b), NAN, NV),
        (is_infinite(a), a, 0),
        (is_infinite(b), b, 0),
    ]
    made, flags = choose(cases, finite(odd_sum(real(a), real(b)), zero_sum(a, b, mode), mode))
    return made, flags | a_flags | b_flags


def multiply(a: Bits, b: Bits, mode: int) -> tuple[Bits, Bits]:
    (a, a_flags), (b, b_flags) = flushed(a), flushed(b)
    sign = (a ^ b) & SIGN
    infinite = is_infinite(a) | is_infinite(b)
    cases: list[tuple[Bools, Bits | np.uint32, Bits | int]] = [
        (is_nan(a) | is_nan(b), NAN, flag(is_signaling(a) | is_signaling(b), NV)),
        (infinite & (is_zero(a) | is_zero(b)), NAN, NV),
        (infinite, sign | INFINITE, 0),
    ]
    made, flags = choose(cases, finite(real(a) * real(b), sign, mode))
    return made, flags | a_flags | b_flags


def fused(a: Bits, b: Bits, c: Bits, mode: int) -> tuple[Bits, Bits]:
    """a * b + c, rounded once."""
    (a, a_flags), (b, b_flags), (c, c_flags) = flushed(a), flushed(b), flushed(c)
    sign = (a ^ b) & SIGN
    infinite = is_infinite(a) | is_infinite(b)
    product_zero = is_zero(a) | is_zero(b)
    signaling = is_signaling(a) | is_signaling(b) | is_signaling(c)
    cases: list[tuple[Bools, Bits | np.uint32, Bits | int]] = [
        (infinite & product_zero, NAN, NV),
        (is_nan(a) | is_nan(b) | is_nan(c), NAN, flag(signaling, NV)),
        (infinite & is_infinite(c) & ((c & SIGN) != sign), NAN, NV),
        (infinite, sign | INFINITE, 0),
        (is_infinite(c), c, 0),
    ]
    product = sign | np.where(product_zero, np.uint32(0), np.uint32(1))
    total = odd_sum(real(a) * real(b), real(c))
    made, flags = choose(cases, finite(total, zero_sum(product, c, mode), mode))
    return made, flags | a_flags | b_flags | c_flags


def extreme(a: Bits, b: Bits, greater: bool) -> tuple[Bits, Bits]:
    """minimumNumber and maximumNumber; -0 is less than +0."""
    (a, a_flags), (b, b_flags) = flushed(a), flushed(b)

    def key(x: Bits) -> NDArray[np.int64]:
        size = (x & ~SIGN).astype(np.int64)
        return np.where(x & SIGN != 0, -size - 1, size)

    takes_a = (key(a) > key(b)) if greater else (key(a) < key(b))
    cases: list[tuple[Bools, Bits | np.uint32, Bits | int]] = [
        (is_nan(a) & is_nan(b), NAN, 0),
        (is_nan(a), b, 0),
        (is_nan(b) | takes_a, a, 0),
    ]
    made, _ = choose(cases, (b, np.zeros_like(b)))
    return made, flag(is_signaling(a) | is_signaling(b), NV) | a_flags | b_flags


def from_integer(a: Bits, mode: int) -> tuple[Bits, Bits]:
    return finite(a.view(np.int32).astype(np.float64), np.zeros_like(a), mode)


def to_integer(a: Bits, mode: int) -> tuple[Bits, Bits]:
    """The nearest of 32 bits; the greatest of a NaN."""
    a, flags = flushed(a)
    negative = (a & SIGN) != 0
    value = np.minimum(np.abs(np.where(is_infinite(a) | is_nan(a), 2.0**40, real(a))), 2.0**40)
    whole = np.floor(value)
    rest = value - whole
    scaled = (rest * (1 << 30)).astype(np.int64)
    lost = (rest * (1 << 30)) != scaled
    up = goes_up(negative, whole.astype(np.int64), scaled * 2 + lost, 1 << 30, mode)
    magnitude = whole.astype(np.int64) + up
    result = np.where(negative, -magnitude, magnitude)
    result = np.where(is_nan(a), 1 << 40, result)
    beyond = (result > 2**31 - 1) | (result < -(2**31))
    made = np.clip(result, -(2**31), 2**31 - 1).astype(np.int32).view(np.uint32)
    return made, flags | np.where(beyond, np.uint32(NV), flag(rest != 0, NX))

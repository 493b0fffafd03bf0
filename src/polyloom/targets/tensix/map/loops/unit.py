# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of the vector unit as functions are written in it, with constants as operands: over values that
instructions are emitted for, or bits that are computed (lanes.py)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final, Generic, TypeVar

from polyloom.targets.tensix.map.loops.lanes import Lanes

T = TypeVar("T")
LESS, NOT_LESS, GREATER = 0, 4, 5
"""Conditions of comparisons."""
INTEGERS: Final = 1.5 * 2.0**23
"""Added to a number below 2^22, it leaves the nearest integer in the lowest bits."""
INFINITE, NORMAL, ONE, NAN = 0x7F800000, 0x00800000, 0x3F800000, 0x7FC00000


def float_bits(value: float) -> int:
    """Bits of a number of FP32."""
    return int.from_bytes(struct.pack("<f", value), "little")


class Unit(Generic[T]):
    """Arithmetic of the vector unit with constants as operands."""

    def __init__(self, lanes: Lanes[T]) -> None:
        self.lanes = lanes

    def number(self, value: T | float) -> T:
        # Constants are written as numbers above and turned into bits here, in one place.
        return self.lanes.constant(float_bits(value)) if isinstance(value, int | float) else value

    def mad(self, a: T, b: T | float, c: T | float) -> T:
        return self.lanes.call("sfpmad", a, self.number(b), self.number(c), 0)

    def mul(self, a: T, b: T | float) -> T:
        return self.lanes.call("sfpmul", a, self.number(b), 0)

    def add(self, a: T, b: T | float) -> T:
        return self.lanes.call("sfpadd", a, self.number(b), 0)

    def left(self, a: T, by: int) -> T:
        """Shift of bits, to the right by negative numbers."""
        return self.lanes.call("sfpshft_i", a, by, 0)

    def plus(self, a: T, bits: int) -> T:
        """Sum of integers."""
        return self.lanes.call("sfpiadd_v", a, self.lanes.constant(bits), 4)

    def polynomial(self, x: T, coefficients: Sequence[float]) -> T:
        """Horner's rule, from the highest degree on (Knuth, The Art of Computer Programming, volume 2, section
        4.6.4)."""
        first, second, *others = coefficients
        found = self.mad(x, first, second)
        for coefficient in others:
            found = self.mad(found, x, coefficient)
        return found

    def magnitude(self, x: T) -> T:
        """Magnitude: the bits without the sign, also of a NaN."""
        return self.lanes.call("sfpsetsgn_i", x, 0, 0)

    def chosen(self, condition: int, bits: T, limit: int, then: T, orelse: T) -> T:
        """Choice by bits as integers, whose difference does not wrap."""
        return self.lanes.choose("cmp_i", condition, bits, self.lanes.constant(limit), then, orelse)

    def pass_nan(self, x: T, value: T) -> T:
        """NaN propagation: x where it is a NaN, else the value."""
        return self.chosen(GREATER, self.magnitude(x), INFINITE, x, value)

    def within(self, x: T, least: float, largest: float) -> T:
        return self.lanes.extreme("minimum", self.lanes.extreme("maximum", x, self.number(least)), self.number(largest))

    def scale_by_power(self, value: T, turns: T) -> T:
        """Scaling: value 2^n 2^n, where `turns` are n + INTEGERS."""
        # The shift leaves the low bits of n in the exponent's place; adding 1.0's bits adds the bias.
        power = self.plus(self.left(turns, 23), ONE)
        return self.mul(self.mul(value, power), power)

    def root_of_special(self, x: T, root: T) -> T:
        """Square root: of a denormal 0, of an infinity and a NaN themselves, of what is negative a NaN."""
        size = self.magnitude(x)
        root = self.chosen(NOT_LESS, size, INFINITE, x, root)
        root = self.chosen(LESS, x, 0, self.lanes.constant(NAN), root)
        return self.chosen(LESS, size, NORMAL, self.number(0.0), root)

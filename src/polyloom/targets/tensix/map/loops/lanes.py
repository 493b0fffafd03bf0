# SPDX-License-Identifier: Apache-2.0
"""Abstract vector operations, for kernels that are written once: `Emitted` makes instructions of them, `Computed`
bits; `Unit` is arithmetic over them, with constants as operands, in which functions are written."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.ssa import Value
from polyloom.targets.tensix.source.build import Builder
from polyloom.targets.tensix.source.oracle.meaning import compare_bits, compare_with_zero, compute

T = TypeVar("T")
LESS, NOT_LESS, GREATER = 0, 4, 5
"""Conditions of comparisons."""
INTEGERS: Final = 1.5 * 2.0**23
"""Added to a number below 2^22, it leaves the nearest integer in the lowest bits."""
INFINITE, NORMAL, ONE, NAN = 0x7F800000, 0x00800000, 0x3F800000, 0x7FC00000
Words = NDArray[np.integer[Any]]


class Lanes(Protocol[T]):
    """Interface of vector operations over T."""

    def constant(self, bits: int) -> T:
        """Splat of bits to every lane."""
        ...

    def call(self, name: str, *operands: T | int) -> T:
        """Operation of the table, of one result."""
        ...

    def extreme(self, name: str, a: T, b: T) -> T:
        """The `minimum` or `maximum`, in the total order of SFPSWAP (ISA documentation, page of `SFPSWAP`)."""
        ...

    def choose(self, compare: str, condition: int, left: T, right: T | None, then: T, orelse: T) -> T:
        """Choice per lane by a comparison of the table; with 0 where there is no `right`."""
        ...


@dataclass(frozen=True, slots=True)
class Emitted:
    """Emitter: instructions at the end of a kernel. `held` are the constant registers of bits that one has."""

    builder: Builder
    held: Mapping[int, int] = field(default_factory=dict[int, int])

    def constant(self, bits: int) -> Value:
        if bits in self.held:
            return self.builder.call("config_read", self.held[bits])
        return self.builder.call("splat", bits)

    def call(self, name: str, *operands: Value | int) -> Value:
        return self.builder.call(name, *operands)

    def extreme(self, name: str, a: Value, b: Value) -> Value:
        return self.builder.several("sfpswap", a, b, 1)[name == "maximum"]

    def choose(
        self, compare: str, condition: int, left: Value, right: Value | None, then: Value, orelse: Value
    ) -> Value:
        b = self.builder
        b.effect("push")
        b.effect("cond", b.call(compare, condition, left, self.constant(0) if right is None else right))
        # An assignment is what a condition acts on: lanes outside keep `orelse`.
        chosen = b.call("assign", orelse, then)
        b.effect("pop")
        return chosen


@dataclass(frozen=True, slots=True)
class Computed:
    """Evaluator: bits of vectors, of a shape that ends in 32."""

    shape: tuple[int, ...]

    def constant(self, bits: int) -> Words:
        return np.full(self.shape, bits, np.uint32)

    def call(self, name: str, *operands: Words | int) -> Words:
        return compute(name, operands, "wormhole")[0]

    def extreme(self, name: str, a: Words, b: Words) -> Words:
        return compute("sfpswap", [a, b, 1], "wormhole")[name == "maximum"]

    def choose(
        self, compare: str, condition: int, left: Words, right: Words | None, then: Words, orelse: Words
    ) -> Words:
        if right is None:
            truths = compare_with_zero(condition, left)
        else:
            truths = compare_bits(compare, condition, left, right, "wormhole")
        return np.where(truths, then, orelse)


@dataclass(frozen=True, slots=True)
class Interleaved(Generic[T]):
    """Several vectors at once: what waits for a result of one has the others between. Constants are shared."""

    lanes: Lanes[T]
    count: int

    def constant(self, bits: int) -> tuple[T, ...]:
        return (self.lanes.constant(bits),) * self.count

    def call(self, name: str, *operands: tuple[T, ...] | int) -> tuple[T, ...]:
        return tuple(self.lanes.call(name, *_vector_operands(operands, n)) for n in range(self.count))

    def extreme(self, name: str, a: tuple[T, ...], b: tuple[T, ...]) -> tuple[T, ...]:
        return tuple(self.lanes.extreme(name, *each) for each in zip(a, b, strict=True))

    def choose(
        self,
        compare: str,
        condition: int,
        left: tuple[T, ...],
        right: tuple[T, ...] | None,
        then: tuple[T, ...],
        orelse: tuple[T, ...],
    ) -> tuple[T, ...]:
        return tuple(
            self.lanes.choose(compare, condition, left[n], None if right is None else right[n], then[n], orelse[n])
            for n in range(self.count)
        )


def _vector_operands(operands: Sequence[tuple[T, ...] | int], number: int) -> list[T | int]:
    return [each if isinstance(each, int) else each[number] for each in operands]


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

# SPDX-License-Identifier: Apache-2.0
"""Abstract vector operations, for kernels that are written once: `Emitted` makes instructions of them, `Computed`
bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.ssa import Value
from polyloom.targets.tensix.source.build import Builder
from polyloom.targets.tensix.source.oracle.meaning import compare_bits, compare_with_zero, compute

T = TypeVar("T")
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
        return tuple(self.lanes.call(name, *_of_vector(operands, n)) for n in range(self.count))

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


def _of_vector(operands: Sequence[tuple[T, ...] | int], number: int) -> list[T | int]:
    return [each if isinstance(each, int) else each[number] for each in operands]

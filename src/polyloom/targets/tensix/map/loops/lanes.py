# SPDX-License-Identifier: Apache-2.0
"""Operations on vectors for who writes a kernel down once: `Emitted` makes instructions of it, `Computed` bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.ssa import Value
from polyloom.targets.tensix.source.build import Builder
from polyloom.targets.tensix.source.oracle.meaning import compared, compared_with_zero, compute

T = TypeVar("T")
Words = NDArray[np.integer[Any]]


class Lanes(Protocol[T]):
    """What a vector T can be asked for."""

    def constant(self, bits: int) -> T:
        """In every lane."""
        ...

    def call(self, name: str, *operands: T | int) -> T:
        """An operation of the table, of one result."""
        ...

    def extreme(self, name: str, a: T, b: T) -> T:
        """The `minimum` or `maximum`, in the order of SFPSWAP."""
        ...

    def choose(self, compare: str, condition: int, left: T, right: T | None, then: T, orelse: T) -> T:
        """By a comparison of the table; with 0 where there is no `right`."""
        ...


@dataclass(frozen=True, slots=True)
class Emitted:
    """Instructions at the end of a kernel."""

    builder: Builder

    def constant(self, bits: int) -> Value:
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
        chosen = b.call("assign", orelse, then)
        b.effect("pop")
        return chosen


@dataclass(frozen=True, slots=True)
class Computed:
    """Bits of vectors, of a shape that ends in 32."""

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
            truths = compared_with_zero(condition, left)
        else:
            truths = compared(compare, condition, left, right, "wormhole")
        return np.where(truths, then, orelse)

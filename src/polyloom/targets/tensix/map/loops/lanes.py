# SPDX-License-Identifier: Apache-2.0
"""Abstract vector operations, for kernels that are written once: `Emitted` makes instructions of them, `Computed`
bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

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
    """Emitter: instructions at the end of a kernel."""

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

# SPDX-License-Identifier: Apache-2.0
"""Affine forms and addresses of elements, each part computed in the outermost loop where it is known (loop-invariant
code motion by construction; Muchnick 1997, section 13.2).

A form is summed up from the parameters inwards: what depends on the loops down to one stands at the beginning of that
loop's body, once for all its uses. An address is a row-major sum: the array, then for each level the products of its
loops and of the strides, which are computed at the entry; constant distances come last, so that neighbours share the
rest. Forms are as wide as addresses, where they are exact: every element of an array has an address.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import prod

from polyloom.ir.nest import Storage
from polyloom.ir.ssa import Constant, Instruction, Operand, integer_constant
from polyloom.ir.ssa_types import Type
from polyloom.sets import Affine
from polyloom.transform.nest_to_ssa.writer import Writer

Stride = tuple[Affine, ...]
"""The extents that are not constant, whose product it is."""


@dataclass(slots=True)
class Level:
    """Nesting level, the entry or a loop that is open: the symbols that are known from there on, the beginning of its
    body, and what has been computed there (mutable).
    """

    symbols: dict[str, Operand]
    prologue: list[Instruction]
    known: dict[Hashable, Operand] = field(default_factory=dict[Hashable, Operand])


class Forms:
    """Writer of affine forms and addresses; `scalar` reads a local variable that is a symbol, where it is used."""

    def __init__(self, writer: Writer, address: Type, entry: Level, scalar: Callable[[str], Operand]) -> None:
        self.writer, self.address, self.scalar = writer, address, scalar
        self.levels: list[Level] = [entry]

    @contextmanager
    def entered(self) -> Generator[None]:
        """Level of a nest's entry, which is the current block: what depends on parameters alone is computed here for
        it, so that it does not live in other nests.
        """
        outermost = self.levels
        # Inner loops are entered many times; their invariants already have levels of their own.
        if len(outermost) == 1:
            self.levels = [Level(outermost[0].symbols, self.writer.current.prologue)]
        yield
        self.levels = outermost

    @contextmanager
    def within(self, symbol: str, value: Operand) -> Generator[None]:
        """Level of a loop whose body begins in the current block."""
        self.levels.append(Level({symbol: value}, self.writer.current.prologue))
        yield
        self.levels.pop()

    def affine(self, form: Affine) -> Operand:
        """Value of an affine form, level by level from the outermost one."""
        total: Operand = integer_constant(self.address, 0)
        # The key is the sum so far, so that forms with the same outer part share it.
        so_far = Affine()
        for level in self.levels:
            own = tuple([term for term in form.terms if term[0] in level.symbols])
            if own:
                so_far = so_far + Affine(own)
                total = self.once(level, ("sum", so_far), partial(self._sum, total, own, level))
        for name, factor in form.terms:
            if not any(name in level.symbols for level in self.levels):
                total = self._plus(total, self.scalar(name), factor)
        return self.writer.put("add", self.address, total, integer_constant(self.address, form.constant))

    def once(self, level: Level, key: Hashable, compute: Callable[[], Operand]) -> Operand:
        """Hoisting: what is computed once at the beginning of a level, by its key."""
        if key not in level.known:
            writer, target = self.writer, self.writer.target
            writer.target = level.prologue
            level.known[key] = compute()
            writer.target = target
        return level.known[key]

    def _sum(self, total: Operand, terms: Sequence[tuple[str, int]], level: Level) -> Operand:
        for name, factor in terms:
            total = self._plus(total, level.symbols[name], factor)
        return total

    def _plus(self, total: Operand, value: Operand, factor: int) -> Operand:
        if factor < 0:
            return self.writer.put("sub", self.address, total, self.writer.times(value, -factor))
        return self.writer.put("add", self.address, total, self.writer.times(value, factor))

    def pointer(self, base: Operand, storage: Storage, size: int, index: Sequence[Affine]) -> Operand:
        """Address of an element of `size` bytes, row-major."""
        terms, constants = _stride_factors(storage, size, index)
        fixed = {stride: factor for stride, factor in constants.items() if stride}
        # The part of the index that is constant per stride depends on no loop: it is added to the base at the entry.
        found, key = base, (storage.name, *fixed.items())
        if fixed:
            found = self.once(self.levels[0], key, lambda: self.writer.offset(base, self._stride(fixed)))
        for level in self.levels:
            for name in (name for name in terms if name in level.symbols):
                key = (*key, name, *terms[name].items())
                found = self.once(level, key, partial(self._advance_pointer, found, level.symbols[name], terms[name]))
        for name, factors in terms.items():
            if not any(name in level.symbols for level in self.levels):
                found = self._advance_pointer(found, self.scalar(name), factors)
        # The constant comes last: elements that differ by it share all the rest, and machines have it as an immediate.
        return self.writer.offset(found, integer_constant(self.address, constants.get((), 0)))

    def _advance_pointer(self, pointer: Operand, symbol: Operand, factors: Mapping[Stride, int]) -> Operand:
        """Pointer plus a multiple of a symbol."""
        by = self._stride(factors)
        is_known = isinstance(by, Constant)
        distance = self.writer.times(symbol, by.value) if is_known else self.writer.put("mul", by.type, symbol, by)
        return self.writer.offset(pointer, distance)

    def _stride(self, factors: Mapping[Stride, int]) -> Operand:
        """Sum of multiples of products of extents, computed at the entry."""
        return self.once(self.levels[0], ("stride", *factors.items()), partial(self._sum_strides, factors))

    def _sum_strides(self, factors: Mapping[Stride, int]) -> Operand:
        total: Operand = integer_constant(self.address, 0)
        for stride, factor in factors.items():
            total = self._plus(total, self.product(stride) if stride else integer_constant(self.address, 1), factor)
        return total

    def product(self, stride: Stride) -> Operand:
        """Product of extents, computed at the entry."""
        return self.once(self.levels[0], ("product", stride), lambda: self._multiply_extents(stride))

    def _multiply_extents(self, stride: Stride) -> Operand:
        total: Operand = integer_constant(self.address, 1)
        for extent in stride:
            total = self.writer.put("mul", self.address, total, self.affine(extent))
        return total


def _stride_factors(
    storage: Storage, size: int, index: Sequence[Affine]
) -> tuple[dict[str, dict[Stride, int]], dict[Stride, int]]:
    """Factors of strides in bytes by symbol, and those that are constant."""
    terms: defaultdict[str, defaultdict[Stride, int]] = defaultdict(lambda: defaultdict(int))
    constants: defaultdict[Stride, int] = defaultdict(int)
    for dimension, form in enumerate(index):
        inner = storage.shape[dimension + 1 :]
        stride = tuple([extent for extent in inner if not extent.is_constant])
        factor = size * prod(extent.constant for extent in inner if extent.is_constant)
        for name, coefficient in form.terms:
            terms[name][stride] += factor * coefficient
        constants[stride] += factor * form.constant
    found = {name: {s: f for s, f in factors.items() if f} for name, factors in terms.items()}
    return {name: factors for name, factors in found.items() if factors}, {s: f for s, f in constants.items() if f}

# SPDX-License-Identifier: Apache-2.0
"""Alias analysis: which accesses to memory of a function in SSA form may meet.

An address is an object that it is made of, its root, and a linear form over values, modulo the width of pointers.
Accesses to different objects do not meet: variables of the function, data, and parameters of which one is `restrict`
(C17 6.7.3.1). Accesses to the same object do not meet where their forms differ by a constant that keeps them apart
(Maydan, Hennessy, Lam, "Efficient and Exact Data Dependence Analysis", 1991, constant test). All others may.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from polyloom.analysis.effects import effects, externals_of
from polyloom.ir.ssa import (
    Address,
    Constant,
    Function,
    Instruction,
    Operand,
    Value,
    successor_edges,
    terminator_operand,
)
from polyloom.ir.ssa_types import PTR, memory_size

_DEPTH: Final = 16


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A constant, and coefficients of values by their names."""

    constant: int = 0
    terms: Mapping[str, int] = field(default_factory=dict[str, int])

    def plus(self, other: LinearForm, factor: int = 1) -> LinearForm:
        sums = dict(self.terms)
        for name, by in other.terms.items():
            sums[name] = sums.get(name, 0) + factor * by
        return LinearForm(self.constant + factor * other.constant, {n: by for n, by in sums.items() if by})


@dataclass(frozen=True, slots=True)
class Location:
    """Where an access begins, and its bytes; a root that is no object of its own may be any."""

    root: Operand
    form: LinearForm
    size: int


def is_plain_load(instruction: Instruction) -> bool:
    """Whether it only loads, all lanes: neither volatile nor atomic."""
    access = instruction.access
    is_load = instruction.operation == "load" and len(instruction.operands) == 1
    return is_load and access is not None and not access.volatile and not access.order


def is_plain_store(instruction: Instruction) -> bool:
    """Whether it only stores, all lanes: neither volatile nor atomic."""
    access = instruction.access
    is_store = instruction.operation == "store" and len(instruction.operands) == 2
    return is_store and access is not None and not access.volatile and not access.order


class Aliases:
    """Of one function; forms are kept by value."""

    def __init__(self, function: Function) -> None:
        self.function, self.externals = function, externals_of(function)
        self.makers = {r.name: i for block in function.blocks for i in block.instructions for r in i.results}
        self.parameters = {p.name: k for k, p in enumerate(function.parameters)}
        self.restricted = {p.name for k, p in enumerate(function.parameters) if k in function.restricted}
        self.private = _private(function)
        self._integers: dict[str, LinearForm] = {}
        self._pointers: dict[str, tuple[Operand, LinearForm]] = {}

    def may_write(self, instruction: Instruction) -> bool:
        """Whether it may change memory, or orders accesses to it."""
        return bool(effects(instruction, self.externals) & {"writes", "ordered"})

    def may_read(self, instruction: Instruction) -> bool:
        """Whether it may look at memory, or orders accesses to it."""
        return bool(effects(instruction, self.externals) & {"reads", "ordered"})

    def location(self, instruction: Instruction) -> Location | None:
        """What a plain load or store accesses; None for everything else."""
        if is_plain_load(instruction):
            pointer, type = instruction.operands[0], instruction.results[0].type
        elif is_plain_store(instruction):
            pointer, type = instruction.operands[1], instruction.operands[0].type
        else:
            return None
        if pointer.type != PTR or isinstance(type.lanes, str):
            return None
        root, form = self.pointer(pointer)
        return Location(root, form, memory_size(type, self.function.pointers))

    def pointer(self, operand: Operand, depth: int = _DEPTH) -> tuple[Operand, LinearForm]:
        """The root of a pointer, and the distance from it in bytes."""
        if isinstance(operand, Address):
            return Address(operand.name), LinearForm(operand.offset)
        if not isinstance(operand, Value):
            return operand, LinearForm()
        if operand.name not in self._pointers:
            made = self.makers.get(operand.name)
            found: tuple[Operand, LinearForm] = operand, LinearForm()
            if made is not None and made.operation == "copy" and depth:
                found = self.pointer(made.operands[0], depth - 1)
            elif made is not None and made.operation == "offset" and depth:
                root, form = self.pointer(made.operands[0], depth - 1)
                found = root, form.plus(self.integer(made.operands[1]))
            self._pointers[operand.name] = found
        return self._pointers[operand.name]

    def integer(self, operand: Operand, depth: int = _DEPTH) -> LinearForm:
        """An integer as wide as an address: sums, differences and products with constants are followed."""
        if isinstance(operand, Constant):
            return LinearForm(operand.value)
        if not isinstance(operand, Value):
            return LinearForm(0, {"?": 1})
        if operand.name not in self._integers:
            self._integers[operand.name] = self._computed(operand, depth)
        return self._integers[operand.name]

    def _computed(self, value: Value, depth: int) -> LinearForm:
        itself, made = LinearForm(0, {value.name: 1}), self.makers.get(value.name)
        if made is None or depth == 0 or value.type != self.function.address:
            return itself
        match made.operation:
            case "copy":
                return self.integer(made.operands[0], depth - 1)
            case "add" | "sub":
                a, b = (self.integer(o, depth - 1) for o in made.operands)
                return a.plus(b, 1 if made.operation == "add" else -1)
            case "shl" if isinstance(by := made.operands[1], Constant) and 0 <= by.value < value.type.bits:
                return LinearForm().plus(self.integer(made.operands[0], depth - 1), 1 << by.value)
            case "mul" if isinstance(by := made.operands[1], Constant):
                return LinearForm().plus(self.integer(made.operands[0], depth - 1), by.value)
            case _:
                return itself

    def may_meet(self, a: Instruction, b: Instruction) -> bool:
        """Whether two accesses, with the values as they are at one moment, may be to the same byte; of an access whose
        values stay the same in a loop and one of the loop, whether they may meet in any iteration."""
        one, other = self.location(a), self.location(b)
        if one is None or other is None:
            # What has no location may be a call, which reaches all but variables whose addresses stay in the function.
            known = one or other
            return known is None or not self._is_private(known.root)
        return self.overlap(one, other)

    def may_change(self, instruction: Instruction, location: Location) -> bool:
        """Whether an instruction may change what is at a location."""
        own = self.location(instruction)
        if own is not None:
            return not instruction.results and self.overlap(own, location)
        return self.may_write(instruction) and not self._is_private(location.root)

    def overlap(self, a: Location, b: Location) -> bool:
        """Whether accesses to two locations may be to the same byte, with the values as they are at one moment."""
        if a.root != b.root:
            return not self._distinct(a.root, b.root)
        distance = b.form.plus(a.form, -1)
        modulus = 1 << self.function.pointers
        if any(by % modulus for by in distance.terms.values()) or "?" in (*a.form.terms, *b.form.terms):
            return True
        gap = distance.constant % modulus
        return gap < a.size or modulus - gap < b.size

    def _is_private(self, root: Operand) -> bool:
        return isinstance(root, Value) and root.name in self.private

    def _distinct(self, a: Operand, b: Operand) -> bool:
        """Whether two different roots are of different objects."""
        kinds = [self._kind(root) for root in (a, b)]
        if self._is_private(a) or self._is_private(b):
            return True
        if "" in kinds:
            return False
        if kinds == ["parameter", "parameter"]:
            return any(isinstance(root, Value) and root.name in self.restricted for root in (a, b))
        # A parameter may point to data, but not to a variable of a call that began after it was made.
        return set(kinds) != {"parameter", "datum"}

    def _kind(self, root: Operand) -> str:
        if isinstance(root, Address):
            return "datum"
        if isinstance(root, Value):
            made = self.makers.get(root.name)
            if root.name in self.parameters:
                return "parameter"
            return "variable" if made is not None and made.operation == "alloca" else ""
        return ""


def _private(function: Function) -> frozenset[str]:
    """Variables of the function whose addresses are only accessed through: nothing else can point to them."""
    instructions = [i for block in function.blocks for i in block.instructions]
    found = {r.name for i in instructions if i.operation == "alloca" for r in i.results}
    derived = {name: name for name in found}
    moved = [i for i in instructions if i.operation in ("offset", "copy")] if found else []
    # Blocks stand in any order: a distance may come before what it is from.
    for _ in moved:
        more = {
            i.results[0].name: derived[o.name]
            for i in moved
            if isinstance(o := i.operands[0], Value) and o.name in derived
        }
        if more.keys() <= derived.keys():
            break
        derived |= more
    escaped: set[str] = set()
    for instruction in instructions if found else ():
        # What an access has besides its address is passed on: a store of an address, for one.
        kept = {"load": instruction.operands[1:], "store": instruction.operands[:-1]}
        is_moved = instruction.operation in ("offset", "copy") and instruction.results[0].name in derived
        passed = () if is_moved else kept.get(instruction.operation, instruction.operands)
        escaped |= {derived[o.name] for o in passed if isinstance(o, Value) and o.name in derived}
    for block in function.blocks if found else ():
        ends = (
            terminator_operand(block.terminator),
            *(a for e in successor_edges(block.terminator) for a in e.arguments),
        )
        escaped |= {derived[o.name] for o in ends if isinstance(o, Value) and o.name in derived}
    return frozenset(found - escaped)

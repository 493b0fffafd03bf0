# SPDX-License-Identifier: Apache-2.0
"""Alias analysis: which accesses to memory of a function in SSA form may meet.

An address is an affine form (`affine`). It points into what the pointers in the form point into, followed through
parameters of blocks and selects: points-to sets without flow, as in Andersen, "Program Analysis and Specialization for
the C Programming Language", 1994, for what is not stored. Accesses to different objects do not meet: variables of the
function, data, and parameters of which one is `restrict` (C17 6.7.3.1). Accesses whose forms differ by a constant that
keeps them apart do not either (Maydan, Hennessy, Lam, "Efficient and Exact Data Dependence Analysis", 1991, constant
test). All others may.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from polyloom.analysis.affine import Affine, AffineForms, Atom
from polyloom.analysis.effects import effects, externals_by_name
from polyloom.ir.ssa import Address, Function, Instruction, Operand, Undef, Value, successor_edges, terminator_operand
from polyloom.ir.ssa_types import PTR, memory_size

_ANYTHING: Final = Address("")
"""An object of which nothing is known; no datum has this name."""
_MOST: Final = 256
"""Values that are followed for one address: bounds the time in functions of many blocks."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where an access begins, and its bytes, at most."""

    address: Affine
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


def access_size(instruction: Instruction, pointers: int) -> int:
    """Bytes that a load or a store accesses at most."""
    type = instruction.results[0].type if instruction.operation == "load" else instruction.operands[0].type
    lanes = type.lanes if isinstance(type.lanes, int) else 0
    return memory_size(type.scalar, pointers) * max(1, lanes)


class Aliases:
    """Of one function. `outside`: the pointers that are passed come from outside of the program, and so point to none
    of its data."""

    def __init__(self, function: Function, outside: bool = False) -> None:
        self.function, self.outside, self.externals = function, outside, externals_by_name(function)
        self.forms = AffineForms(function)
        self.passed = {p for p in function.parameters if p.type == PTR}
        self.restricted: set[Operand] = {p for k, p in enumerate(function.parameters) if k in function.restricted}
        self.private: set[Operand] = {i.results[0] for i in _private_variables(function)}
        self.incoming: dict[Atom, list[Operand]] = {}
        blocks = {block.name: block for block in function.blocks}
        for edge in (edge for block in function.blocks for edge in successor_edges(block.terminator)):
            for parameter, argument in zip(blocks[edge.block].parameters, edge.arguments, strict=True):
                self.incoming.setdefault(parameter, []).append(argument)
        self._objects: dict[Affine, frozenset[Operand]] = {}

    def may_write(self, instruction: Instruction) -> bool:
        """Whether it may change memory, or orders accesses to it."""
        return bool(effects(instruction, self.externals) & {"writes", "ordered"})

    def may_read(self, instruction: Instruction) -> bool:
        """Whether it may look at memory, or orders accesses to it."""
        return bool(effects(instruction, self.externals) & {"reads", "ordered"})

    def location(self, instruction: Instruction) -> Location | None:
        """What a load or a store accesses; None where that is not known, and of accesses that order others."""
        if instruction.operation not in ("load", "store") or "ordered" in effects(instruction, self.externals):
            return None
        pointer = instruction.operands[instruction.operation == "store"]
        accessed = (*instruction.results, *instruction.operands)[0].type
        form = self.forms.form(pointer)
        if pointer.type != PTR or isinstance(accessed.lanes, str) or any(isinstance(a, Undef) for a, _ in form.terms):
            return None
        return Location(form, access_size(instruction, self.function.pointers))

    def may_meet(self, a: Instruction, b: Instruction) -> bool:
        """Whether two accesses, with the values as they are at one moment, may be to the same byte; of an access whose
        values stay the same in a loop and one of the loop, whether they may meet in any iteration."""
        one, other = self.location(a), self.location(b)
        if one is None or other is None:
            # What has no location may be a call, which reaches all but variables whose addresses stay in the function.
            # At most one of them has a location.
            known = one or other
            return known is None or not self._is_private(known)
        return self.overlap(one, other)

    def may_change(self, instruction: Instruction, location: Location) -> bool:
        """Whether an instruction may change what is at a location."""
        own = self.location(instruction)
        if own is not None:
            return not instruction.results and self.overlap(own, location)
        return self.may_write(instruction) and not self._is_private(location)

    def overlap(self, a: Location, b: Location) -> bool:
        """Whether accesses to two locations may be to the same byte, with the values as they are at one moment."""
        distance = b.address - a.address
        modulus = 1 << self.function.pointers
        if any(by % modulus for _, by in distance.terms):
            return not self.distinct(a.address, b.address)
        # Both accesses are intervals on a ring of addresses: either may begin up to the other's length behind it.
        gap = distance.constant % modulus
        return gap < a.size or modulus - gap < b.size

    def distinct(self, a: Affine, b: Affine) -> bool:
        """Whether two addresses point into different objects, at whatever times."""
        return all(self.disjoint_objects(one, other) for one in self.objects(a) for other in self.objects(b))

    def objects(self, address: Affine) -> frozenset[Operand]:
        """Points-to set: variables, data and pointers that are passed into which the address may point."""
        if address not in self._objects:
            found = frozenset(self._points_to_set(atom for atom, _ in address.terms))
            self._objects[address] = found or frozenset({_ANYTHING})
        return self._objects[address]

    def _points_to_set(self, atoms: Iterable[Atom]) -> Iterator[Operand]:
        """Points-to set of the atoms of an address: a worklist over parameters of blocks, selects and what these are
        made of (Andersen 1994, chapter 4; without stores, because loaded pointers may be anything).
        """
        work = list(atoms)
        seen = set[Atom]()
        while work:
            atom = work.pop()
            # Undef and constants point to nothing that a program may access.
            if atom in seen or not isinstance(atom, Value | Address):
                continue
            seen.add(atom)
            made = self.forms.makers.get(atom.name) if isinstance(atom, Value) else None
            operation = made.operation if made is not None else ""
            if isinstance(atom, Address) or atom in self.passed or operation == "alloca":
                yield atom
            # An integer passed along is followed as well: it may be the difference of two pointers.
            elif len(seen) < _MOST and (operation == "select" or atom in self.incoming):
                sources = self.incoming[atom] if made is None else made.operands[1:]
                work += [inner for source in sources for inner, _ in self.forms.form(source).terms]
            elif atom.type == PTR or len(seen) >= _MOST:
                yield _ANYTHING

    def _is_private(self, location: Location) -> bool:
        return self.objects(location.address) <= self.private

    def disjoint_objects(self, one: Operand, other: Operand) -> bool:
        """Disjointness of two objects: whether they share no byte (C17 6.7.3.1 for `restrict`, 6.2.4 for variables)."""
        pair = {one, other}
        # Nothing but its own addresses points to a private variable, so that it is disjoint even from the unknown.
        if one == other or (_ANYTHING in pair and not pair & self.private):
            return False
        # A pointer that is passed does not point to a variable of a call that began after it was made.
        data, passed = sum(isinstance(each, Address) for each in pair), len(pair & self.passed)
        return data + passed < 2 or data == 2 or (data == 1 and self.outside) or bool(pair & self.restricted)


def _private_variables(function: Function) -> list[Instruction]:
    """Escape analysis: the variables of the function that are only accessed through addresses made of theirs, by plain
    loads and stores; nothing else can point to them."""
    instructions = [i for block in function.blocks for i in block.instructions]
    found = [i for i in instructions if i.operation == "alloca"]
    derived = {i.results[0].name: i.results[0].name for i in found}
    moved = [i for i in instructions if i.operation in ("offset", "copy")] if found else []
    # Blocks stand in any order: a distance may come before what it is from.
    # Each round follows one more link of a chain, and no chain is longer than all of its links.
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
        is_followed = is_plain_load(instruction) or instruction.operation in ("offset", "copy")
        passed = instruction.operands[:1] if is_plain_store(instruction) else instruction.operands[is_followed:]
        escaped |= {derived[o.name] for o in passed if isinstance(o, Value) and o.name in derived}
    for block in function.blocks if found else ():
        ends = (
            terminator_operand(block.terminator),
            *(a for e in successor_edges(block.terminator) for a in e.arguments),
        )
        escaped |= {derived[o.name] for o in ends if isinstance(o, Value) and o.name in derived}
    return [i for i in found if i.results[0].name not in escaped]

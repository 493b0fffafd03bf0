# SPDX-License-Identifier: Apache-2.0
"""Points-to analysis: which objects addresses may point into, and so which accesses to memory never meet.

An address points into what the pointers in its affine form point into, followed through parameters of blocks (points-to
sets without flow, as in Andersen, 1994, for what is not stored). Distinct objects are: data of the program; arrays that
are passed, of which one is `restrict` or all are known to be distinct; an array from outside of the program, and data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from polyloom.analysis.affine import Affine, AffineForms, Atom
from polyloom.analysis.effects import effects
from polyloom.ir.ssa import Address, Function, Instruction, Operand, Value, successor_edges
from polyloom.ir.ssa_types import PTR

_ANYTHING: Final = Address("")
"""An object of which nothing is known; no datum has this name."""
Effect = Literal["", "reads", "writes"]


class PointsTo:
    """Of a function. `distinct`: the arrays that are passed never overlap; `outside`: they come from outside of the
    program, and so are none of its data."""

    def __init__(self, function: Function, *, distinct: bool = False, outside: bool = True) -> None:
        self.forms, self.kept, self.outside = AffineForms(function), distinct, outside
        pointers = [(k, p) for k, p in enumerate(function.parameters) if p.type == PTR]
        self.passed = {p for _, p in pointers}
        self.alone: set[Operand] = {p for k, p in pointers if distinct or k in function.restricted}
        self.parameters = set(function.parameters)
        self.incoming: dict[Value, list[Operand]] = {}
        blocks = {block.name: block for block in function.blocks}
        for block in function.blocks:
            for edge in successor_edges(block.terminator):
                for parameter, argument in zip(blocks[edge.block].parameters, edge.arguments, strict=True):
                    self.incoming.setdefault(parameter, []).append(argument)
        self.known: dict[Affine, frozenset[Operand]] = {}

    def again(self, function: Function) -> PointsTo:
        """Of the function after a pass."""
        return PointsTo(function, distinct=self.kept, outside=self.outside)

    def distinct(self, a: Affine, b: Affine) -> bool:
        """Whether two addresses point into different objects."""
        first, second = self.objects(a), self.objects(b)
        if not first or not second or _ANYTHING in first or _ANYTHING in second:
            return False
        return all(self._disjoint(one, other) for one in first for other in second)

    def may_meet(self, one: Instruction, other: Instruction) -> bool:
        """Whether two accesses may be of one object, at any time; calls may access all."""
        if one.callee or other.callee:
            return True
        return not self.distinct(self.forms.address(one), self.forms.address(other))

    def objects(self, address: Affine) -> frozenset[Operand]:
        """The data and the pointers that are passed into which the address may point; nothing where it is none."""
        if address not in self.known:
            self.known[address] = frozenset[Operand]().union(*(self._atom(a, set()) for a, _ in address.terms))
        return self.known[address]

    def _disjoint(self, one: Operand, other: Operand) -> bool:
        if one == other:
            return False
        data = isinstance(one, Address) + isinstance(other, Address)
        return data == 2 or (data == 1 and self.outside) or one in self.alone or other in self.alone

    def _atom(self, atom: Atom, path: set[Operand]) -> frozenset[Operand]:
        if isinstance(atom, Address) or atom in self.passed:
            return frozenset({atom})
        if not isinstance(atom, Value) or atom in self.parameters or atom in path:
            return frozenset()
        path.add(atom)
        made = self.forms.makers.get(atom.name)
        if made is not None and made.operation == "select":
            return self._any_of(atom, made.operands[1:], path)
        if atom not in self.incoming:
            return frozenset({_ANYTHING} if atom.type == PTR else ())
        return self._any_of(atom, self.incoming[atom], path)

    def _any_of(
        self, atom: Value, sources: list[Operand] | tuple[Operand, ...], path: set[Operand]
    ) -> frozenset[Operand]:
        atoms = [inner for source in sources for inner, _ in self.forms.form(source).terms if inner != atom]
        return frozenset[Operand]().union(*(self._atom(inner, path) for inner in atoms))


def call_effects(program: Function) -> dict[str, Effect]:
    """What a call of each function of the program may do to memory: a fixpoint, because callees may come after their
    callers."""
    found: dict[str, Effect] = {member.name: "" for member in program.program}
    while True:
        new: dict[str, Effect] = {member.name: _effect_of(member, found) for member in program.program}
        if new == found:
            return found
        found = new


def memory_effect(instruction: Instruction, known: Mapping[str, Effect]) -> Effect:
    """Of one instruction; ordered accesses count as stores."""
    if instruction.called in known:
        return known[instruction.called]
    found = effects(instruction, {})
    return "writes" if found - {"reads"} else "reads" if found else ""


def _effect_of(function: Function, known: Mapping[str, Effect]) -> Effect:
    kinds = {memory_effect(i, known) for block in function.blocks for i in block.instructions}
    return "writes" if "writes" in kinds else "reads" if "reads" in kinds else ""


def is_ordered(instruction: Instruction) -> bool:
    """Whether the access is volatile or atomic."""
    return not instruction.called and "ordered" in effects(instruction, {})

# SPDX-License-Identifier: Apache-2.0
"""Strength reduction in loops: addresses become pointers that move by a constant distance per iteration.

From the innermost loop outwards: what stays the same is computed before the loop; addresses that are linear in a
variable which counts become one pointer for each base, factor and sum of what stays, and constant distances from it
(Cooke, Kennedy, "An algorithm for reduction of operator strength", 1977). Where then only the test that ends the loop
reads the counter, it compares a pointer instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from polyloom.analysis.dominators import dominators
from polyloom.analysis.loops import Loop, loop_forest
from polyloom.ir.ssa import (
    Address,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Value,
    edges_of,
    flow_edges,
    integer,
    with_edges,
    wrapped,
)
from polyloom.ir.ssa_types import PTR
from polyloom.ir.ssa_verify import uses
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.editing import names, throughout, with_operands
from polyloom.transform.ssa.linear import Linear, Scope
from polyloom.transform.ssa.preheaders import with_preheaders

MOST: Final = 8
"""Pointers per loop: registers are few."""
_NEAR: Final = 1024
"""Distances that loads and stores can hold, with room for what is added to them."""
_MOVABLE: Final = ("add", "sub", "mul", "and", "or", "xor", "sext", "zext", "trunc", "offset")
"""Operations that fault nowhere and are not part of a condition; shifts by a constant too."""


@throughout
def strength(function: Function) -> Function:
    """The function with addresses reduced in all reducible loops that are left by one jump back."""
    function = with_preheaders(function)
    edges = flow_edges(function)
    forest = loop_forest(len(function.blocks), edges)
    above: list[int] = dominators(len(function.blocks), edges).tolist()
    work = _Work(function)
    for number, loop in reversed(list(enumerate(forest.loops))):
        if not loop.irreducible:
            work.loop(loop, forest.members(number), above)
    return dce(common(replace(function, blocks=tuple(work.blocks))))


@dataclass(frozen=True, slots=True)
class _Count:
    """A variable of a loop that counts: what it begins with, its step, and the name of the next value."""

    variable: Value
    first: Operand
    step: int
    following: str


@dataclass(frozen=True, slots=True)
class _Family:
    """Addresses that differ by constants."""

    base: Value | Address
    count: _Count
    factor: int
    rest: tuple[tuple[Value, int], ...]


@dataclass(slots=True)
class _Pointer:
    """Mutable: of a family, the pointer at a distance, and the results that stand at constant distances from it."""

    family: _Family
    distance: int
    users: list[tuple[str, int]]
    at_each: bool = False


class _Work:
    """Mutable: the blocks, in their order."""

    def __init__(self, function: Function) -> None:
        self.function, self.blocks, self.fresh = function, list(function.blocks), names(function)

    def loop(self, loop: Loop, members: tuple[int, ...], above: list[int]) -> None:
        inside = set(members)
        header = self.blocks[loop.header].name
        entry = next(
            k
            for k, b in enumerate(self.blocks)
            if k not in inside and any(edge.block == header for edge in edges_of(b.terminator))
        )
        self._move(members, entry)
        if len(loop.latches) != 1:
            return
        latch = loop.latches[0]
        back = [edge for edge in edges_of(self.blocks[latch].terminator) if edge.block == header]
        if len(back) != 1:
            return
        scope = self._scope(members)
        counts = {count.variable: count for count in self._counts(loop.header, entry, back[0], scope)}
        scope = replace(scope, counting=frozenset(value.name for value in counts))
        each = _dominating(latch, loop.header, above) & set(loop.own)
        pointers = self._pointers(sorted(each), counts, scope)
        if pointers:
            self._rewrite(_Place(loop.header, entry, latch, members), pointers)

    def _scope(self, members: tuple[int, ...]) -> Scope:
        blocks = [self.blocks[k] for k in members]
        made = {result.name: i for block in blocks for i in block.instructions for result in i.results}
        defined = frozenset((*made, *(p.name for block in blocks for p in block.parameters)))
        return Scope(made, defined, frozenset(), self.function.address)

    def _move(self, members: tuple[int, ...], entry: int) -> None:
        """What stays the same, before the loop."""
        defined = set(self._scope(members).defined)
        changed = True
        while changed:
            changed = False
            for k in members:
                moved = [i for i in self.blocks[k].instructions if _is_movable(i, defined)]
                # Only what depends on nothing that moves with it, so that the order of definitions stays.
                if moved:
                    changed = True
                    gone = {i.results[0].name for i in moved}
                    kept = tuple(
                        i for i in self.blocks[k].instructions if not (i.results and i.results[0].name in gone)
                    )
                    self.blocks[k] = replace(self.blocks[k], instructions=kept)
                    # Flags exclude values where the instruction stood; here it is executed more often.
                    self._append(entry, *(replace(i, flags=()) for i in moved))
                    defined -= gone

    def _append(self, k: int, *instructions: Instruction) -> None:
        block = self.blocks[k]
        self.blocks[k] = replace(block, instructions=(*block.instructions, *instructions))

    def _counts(self, header: int, entry: int, back: Edge, scope: Scope) -> Iterator[_Count]:
        enters = self.blocks[entry].terminator
        assert isinstance(enters, Jump)
        for p, first, following in zip(
            self.blocks[header].parameters, enters.target.arguments, back.arguments, strict=True
        ):
            made = scope.made.get(following.name) if isinstance(following, Value) else None
            if made is None or p.type != self.function.address or made.operation != "add" or made.operands[0] != p:
                continue
            step = made.operands[1]
            if isinstance(step, Constant) and made.results:
                yield _Count(p, first, step.value, made.results[0].name)

    def _pointers(self, blocks: list[int], counts: dict[Value, _Count], scope: Scope) -> list[_Pointer]:
        found: list[_Pointer] = []
        for instruction in (i for k in blocks for i in self.blocks[k].instructions if i.operation == "offset"):
            result = instruction.results[0]
            linear = scope.pointer(result)
            counting = [term for term in linear[1].terms if term[0] in counts] if linear else []
            if linear is None or len(counting) != 1:
                continue
            variable, factor = counting[0]
            rest = tuple(term for term in linear[1].terms if term[0] != variable)
            family = _Family(linear[0], counts[variable], factor, rest)
            distance = linear[1].constant
            near = next((p for p in found if p.family == family and abs(p.distance - distance) < _NEAR), None)
            if near is None and len(found) < MOST:
                near = _Pointer(family, distance, [])
                found.append(near)
            if near is not None:
                near.users.append((result.name, distance - near.distance))
        return found

    def _rewrite(self, place: _Place, pointers: list[_Pointer]) -> None:
        known: dict[str, tuple[Value, int]] = {}
        advanced: list[tuple[_Pointer, Value]] = []
        for pointer in pointers:
            family = pointer.family
            start = self._value(place.entry, family, pointer.distance, family.count.first)
            variable = Value(self.fresh("at"), PTR)
            following = Value(self.fresh("at"), PTR)
            self._add_variable(place, variable, start, following)
            step = self._distance(family.factor * family.count.step)
            self._append(place.latch, Instruction("offset", (variable, step), (following,)))
            advanced.append((pointer, following))
            known |= {name: (variable, distance) for name, distance in pointer.users}
        for k in place.members:
            block = self.blocks[k]
            made = tuple(
                replace(i, operands=(variable[0], self._distance(variable[1])), flags=())
                if i.operation == "offset" and (variable := known.get(i.results[0].name))
                else i
                for i in block.instructions
            )
            self.blocks[k] = replace(block, instructions=made)
        replaced = {name: variable for name, (variable, distance) in known.items() if distance == 0}

        def operand(operand: Operand) -> Operand:
            return replaced.get(operand.name, operand) if isinstance(operand, Value) else operand

        inside = set(place.members)
        # A pointer that a later block reads keeps its own name: it is that of the last iteration.
        self.blocks = [with_operands(b, operand) if k in inside else b for k, b in enumerate(self.blocks)]
        self._test(place, advanced)

    def _test(self, place: _Place, advanced: list[tuple[_Pointer, Value]]) -> None:
        """The end of the loop by a pointer, where its counter is read by the test alone.

        A pointer that is accessed in each iteration comes back to the same address only after it has run through all of
        the memory: it is where it ends exactly when the counter is."""
        latch = self.blocks[place.latch]
        if not isinstance(latch.terminator, Branch) or not isinstance(latch.terminator.condition, Value):
            return
        condition = latch.terminator.condition
        test = next((i for i in latch.instructions if condition in i.results), None)
        if test is None or test.operation not in ("eq", "ne"):
            return
        readers = self._readers()
        scope = self._scope(place.members)
        accessed = self._accessed(place)
        for pointer, following in advanced:
            count = pointer.family.count
            a, b = test.operands
            limit = b if isinstance(a, Value) and a.name == count.following else a
            ends = (
                any(isinstance(o, Value) and o.name == count.following for o in (a, b))
                and scope.stays(limit)
                and readers[condition.name] == 1
            )
            alone = readers[count.variable.name] == 1 and readers[count.following] == 2
            if not ends or not alone or following.name not in accessed:
                continue
            end = self._value(place.entry, pointer.family, pointer.distance, limit)
            # Behind the pointer's step, which stands at the end of the block.
            kept = tuple(i for i in self.blocks[place.latch].instructions if i is not test)
            made = replace(test, operands=(following, end))
            self.blocks[place.latch] = replace(self.blocks[place.latch], instructions=(*kept, made))
            return

    def _accessed(self, place: _Place) -> set[str]:
        """The next values of the pointers through which the header or the latch loads or stores."""
        steps = {
            i.operands[0]: i.results[0].name for i in self.blocks[place.latch].instructions if i.operation == "offset"
        }
        found: set[str] = set()
        for k in (place.header, place.latch):
            made = {r: i for i in self.blocks[k].instructions if i.operation == "offset" for r in i.results}
            for i in self.blocks[k].instructions:
                if i.operation in ("load", "store"):
                    at = i.operands[-1]
                    inner = made.get(at) if isinstance(at, Value) else None
                    found |= {steps[o] for o in (at, *(inner.operands[:1] if inner else ())) if o in steps}
        return found

    def _readers(self) -> Counter[str]:
        """How often each value is read by what is needed."""
        live = dce(replace(self.function, blocks=tuple(self.blocks)))
        return Counter(o.name for b in live.blocks for _, read in uses(b) for o in read if isinstance(o, Value))

    def _add_variable(self, place: _Place, variable: Value, start: Operand, following: Value) -> None:
        header = self.blocks[place.header]
        self.blocks[place.header] = replace(header, parameters=(*header.parameters, variable))
        for k, argument in ((place.entry, start), (place.latch, following)):
            self.blocks[k] = _with_argument(self.blocks[k], header.name, argument)

    def _value(self, k: int, family: _Family, distance: int, count: Operand) -> Operand:
        """The family's pointer where the counter has a value, computed at the end of a block."""
        sum = Linear((), distance)
        more: tuple[tuple[Operand, int], ...] = family.rest
        if isinstance(count, Constant):
            sum = sum.plus(Linear((), count.value), family.factor)
        else:
            more = ((count, family.factor), *more)
        pointer: Operand = family.base
        for value, factor in more:
            pointer = self._made(k, "offset", pointer, self._times(k, value, factor))
        return self._made(k, "offset", pointer, self._distance(sum.constant)) if sum.constant else pointer

    def _times(self, k: int, value: Operand, factor: int) -> Operand:
        if factor == 1:
            return value
        is_power = factor > 0 and factor & (factor - 1) == 0
        by = self._distance(factor.bit_length() - 1 if is_power else factor)
        return self._made(k, "shl" if is_power else "mul", value, by)

    def _made(self, k: int, operation: str, a: Operand, b: Operand) -> Value:
        result = Value(self.fresh("at"), PTR if operation == "offset" else self.function.address)
        self._append(k, Instruction(operation, (a, b), (result,)))
        return result

    def _distance(self, number: int) -> Constant:
        return integer(self.function.address, wrapped(self.function.address, number))


@dataclass(frozen=True, slots=True)
class _Place:
    """A loop's blocks by their positions."""

    header: int
    entry: int
    latch: int
    members: tuple[int, ...]


def _is_movable(instruction: Instruction, defined: set[str]) -> bool:
    operation, operands = instruction.operation, instruction.operands
    if operation == "offset" and isinstance(operands[1], Constant) and abs(operands[1].value) < _NEAR:
        return False  # a load or a store holds it
    constant_shift = operation in ("shl", "lshr", "ashr") and isinstance(operands[1], Constant)
    return (operation in _MOVABLE or constant_shift) and not any(
        isinstance(o, Value) and o.name in defined for o in operands
    )


def _dominating(node: int, header: int, above: list[int]) -> set[int]:
    """The blocks of a loop that every iteration runs through."""
    found = {node}
    while node != header:
        node = above[node]
        found.add(node)
    return found


def _with_argument(block: Block, target: str, argument: Operand) -> Block:
    def through(edge: Edge) -> Edge:
        return replace(edge, arguments=(*edge.arguments, argument)) if edge.block == target else edge

    return replace(block, terminator=with_edges(block.terminator, lambda operand: operand, through))

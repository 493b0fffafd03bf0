# SPDX-License-Identifier: Apache-2.0
"""Addresses that are linear in a counter as pointers that move with it: one for each base, factor and sum of what
stays, and constant distances from it.

Blocks that only some iterations run through share the pointers of the others; where several of their addresses are
alike, they get one of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.ssa import Address, Constant, Instruction, Operand, Value
from polyloom.ir.ssa_types import PTR
from polyloom.transform.ssa.body import Body, Place, Scope
from polyloom.transform.ssa.counters import Count
from polyloom.transform.ssa.function_editing import with_operands
from polyloom.transform.ssa.hoist import NEAR

MOST: Final = 8
"""Pointers per loop: registers are few."""


@dataclass(frozen=True, slots=True)
class Family:
    """Addresses that differ by constants."""

    base: Operand
    count: Count
    factor: int
    rest: tuple[tuple[Operand, int], ...]


@dataclass(slots=True)
class Pointer:
    """Mutable: of a family, the pointer at a distance, and the results that stand at constant distances from it."""

    family: Family
    distance: int
    users: list[tuple[str, int]]


def pointers(body: Body, place: Place, known: Mapping[Operand, Count], scope: Scope) -> list[Pointer]:
    """Those that are worth a register."""
    found: list[Pointer] = []
    for user in _users(body, place.each, known, scope):
        _add(found, *user)
    seldom: list[Pointer] = []
    others = [k for k in place.own if k not in place.each]
    for family, distance, name in _users(body, others, known, scope):
        near = _nearby(found, family, distance)
        if near is not None:
            near.users.append((name, distance - near.distance))
        else:
            _add(seldom, family, distance, name)
    # A pointer for one address of a block that is seldom executed costs more than it saves.
    alike = [pointer for pointer in seldom if len(pointer.users) > 1]
    return [*found, *alike[: MOST - len(found)]]


def _users(
    body: Body, blocks: Sequence[int], known: Mapping[Operand, Count], scope: Scope
) -> Iterator[tuple[Family, int, str]]:
    for instruction in (i for k in blocks for i in body.blocks[k].instructions if i.operation == "offset"):
        result = instruction.results[0]
        linear = scope.pointer(result)
        counting = [term for term in linear[1].terms if term[0] in known] if linear else []
        if linear is not None and len(counting) == 1:
            variable, factor = counting[0]
            rest = tuple(term for term in linear[1].terms if term[0] != variable)
            yield Family(linear[0], known[variable], factor, rest), linear[1].constant, result.name


def _nearby(found: list[Pointer], family: Family, distance: int) -> Pointer | None:
    return next((p for p in found if p.family == family and abs(p.distance - distance) < NEAR), None)


def _add(found: list[Pointer], family: Family, distance: int, name: str) -> None:
    near = _nearby(found, family, distance)
    if near is None and len(found) < MOST:
        near = Pointer(family, distance, [])
        found.append(near)
    if near is not None:
        near.users.append((name, distance - near.distance))


def rewrite(body: Body, place: Place, found: list[Pointer]) -> list[tuple[Pointer, Value]]:
    """Strength reduction of addresses (Cocke, Kennedy 1977; Cooper, Simpson, Vick 2001): gives the loop its pointers,
    with their next values.
    """
    known: dict[str, tuple[Value, int]] = {}
    advanced: list[tuple[Pointer, Value]] = []
    for pointer in found:
        family = pointer.family
        start = address_of_count(body, place.entry, family, pointer.distance, family.count.first)
        variable, following = Value(body.fresh("at"), PTR), Value(body.fresh("at"), PTR)
        step = body.times(place.entry, family.count.step, family.factor)
        body.add_variable(place, variable, start, following)
        where = body.blocks[place.latch].terminator.place
        body.append(place.latch, Instruction("offset", (variable, step), (following,), place=where))
        advanced.append((pointer, following))
        known |= {name: (variable, distance) for name, distance in pointer.users}
    for k in place.members:
        block = body.blocks[k]
        made = tuple(_at_pointer(body, i, known) for i in block.instructions)
        body.blocks[k] = replace(block, instructions=made)
    replaced = {name: variable for name, (variable, distance) in known.items() if distance == 0}

    def operand(operand: Operand) -> Operand:
        return replaced.get(operand.name, operand) if isinstance(operand, Value) else operand

    inside = set(place.members)
    # A pointer that a later block reads keeps its own name: it is that of the last iteration.
    body.blocks = [with_operands(b, operand) if k in inside else b for k, b in enumerate(body.blocks)]
    return advanced


def _at_pointer(body: Body, instruction: Instruction, known: Mapping[str, tuple[Value, int]]) -> Instruction:
    variable = known.get(instruction.results[0].name) if instruction.operation == "offset" else None
    if variable is None:
        return instruction
    return replace(instruction, operands=(variable[0], body.number(variable[1])), flags=())


def address_of_count(body: Body, k: int, family: Family, distance: int, count: Operand) -> Operand:
    """The family's pointer where the counter has a value, computed at the end of a block."""
    more, pointer = family.rest, family.base
    if isinstance(count, Constant):
        distance += count.value * family.factor
    else:
        more = ((count, family.factor), *more)
    # The linker adds a constant to a datum's address for nothing.
    if isinstance(pointer, Address):
        pointer, distance = replace(pointer, offset=distance), 0
    for value, factor in more:
        pointer = body.emit(k, "offset", pointer, body.times(k, value, factor))
    return body.emit(k, "offset", pointer, body.number(distance)) if distance else pointer

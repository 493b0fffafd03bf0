# SPDX-License-Identifier: Apache-2.0
"""Scalar replacement of aggregates: a structure or an array of the function's own that is accessed at constant places
alone becomes one variable per place, and those become values (Muchnick, "Advanced Compiler Design and Implementation",
1997, section 12.2).

Places that overlap stay together in memory, as does what somebody else may point to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from polyloom.analysis.aliases import Aliases, Location
from polyloom.ir.ssa import Access, Constant, Function, Instruction, Value, integer_constant
from polyloom.ir.ssa_types import PTR, Type
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.editing import names, throughout

Place = tuple[int, Type]
"""An offset in bytes, and the type that is accessed there."""


@throughout
def split_variables(function: Function) -> Function:
    """The function with such variables as values."""
    aliases = Aliases(function)
    sizes = {
        i.results[0].name: i.operands[0].value
        for block in function.blocks
        for i in block.instructions
        if i.operation == "alloca" and isinstance(i.operands[0], Constant) and i.results[0].name in aliases.private
    }
    places = _places(function, aliases, sizes) if sizes else {}
    chosen = {name: found for name, found in places.items() if found and _are_apart(found)}
    if not chosen:
        return function
    fresh = names(function)
    parts = {(name, place): Value(fresh(name), PTR) for name, found in chosen.items() for place in found}
    blocks = tuple(
        replace(block, instructions=tuple(_access(i, aliases, parts) for i in block.instructions))
        for block in function.blocks
    )
    first = blocks[0]
    reserved = tuple(
        Instruction("alloca", (integer_constant(function.address, size),), (value,), access=Access(size))
        for (name, place), value in parts.items()
        for size in (chosen[name][place],)
    )
    entry = replace(first, instructions=(*reserved, *first.instructions))
    return construct(replace(function, blocks=(entry, *blocks[1:])))


def _places(function: Function, aliases: Aliases, sizes: Mapping[str, int]) -> dict[str, dict[Place, int]]:
    """By variable the places that are accessed, with their bytes; nothing for one that is accessed otherwise."""
    found: dict[str, dict[Place, int]] = {name: {} for name in sizes}
    for instruction in (i for block in function.blocks for i in block.instructions):
        if instruction.operation not in ("load", "store"):
            continue
        location = aliases.location(instruction)
        # Of a load the first operand is the address, of a store the second, and masks follow.
        pointer = instruction.operands[1 if instruction.operation == "store" else 0]
        root = aliases.pointer(pointer)[0]
        if not isinstance(root, Value) or root.name not in found:
            continue
        if location is None or not _is_inside(location, sizes[root.name]):
            del found[root.name]
        else:
            found[root.name][location.form.constant, _type(instruction)] = location.size
    return found


def _is_inside(location: Location, size: int) -> bool:
    at = location.form.constant
    return not location.form.terms and at >= 0 and at + location.size <= size


def _type(access: Instruction) -> Type:
    return access.results[0].type if access.results else access.operands[0].type


def _are_apart(places: Mapping[Place, int]) -> bool:
    """Whether no two places share a byte: one that is accessed by two types would need a conversion of bits."""
    ordered = sorted((offset, size) for (offset, _), size in places.items())
    return all(a[0] + a[1] <= b[0] for a, b in pairwise(ordered))


def _access(instruction: Instruction, aliases: Aliases, parts: Mapping[tuple[str, Place], Value]) -> Instruction:
    location = aliases.location(instruction)
    if location is None or not isinstance(location.root, Value):
        return instruction
    part = parts.get((location.root.name, (location.form.constant, _type(instruction))))
    if part is None or location.form.terms:
        return instruction
    return replace(instruction, operands=(*instruction.operands[:-1], part))

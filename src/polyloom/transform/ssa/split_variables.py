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

from polyloom.analysis.affine import Affine, atom_form
from polyloom.analysis.aliases import Aliases
from polyloom.ir.ssa import Access, Constant, Function, Instruction, Operand, Value, integer_constant
from polyloom.ir.ssa_types import PTR, Type
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.function_editing import names, on_each_function


@on_each_function
def split_variables(function: Function) -> Function:
    """Scalar replacement of aggregates (Muchnick 1997, section 12.2): the function with such variables as values."""
    aliases = Aliases(function)
    sizes: dict[Operand, int] = {
        i.results[0]: i.operands[0].value
        for block in function.blocks
        for i in block.instructions
        if i.operation == "alloca" and isinstance(i.operands[0], Constant) and i.results[0] in aliases.private
    }
    places = _places(function, aliases, sizes) if sizes else {}
    chosen = {variable: found for variable, found in places.items() if found and _has_disjoint_places(found)}
    if not chosen:
        return function
    fresh = names(function)
    parts: dict[tuple[Affine, Type], tuple[Value, int]] = {
        (atom_form(variable) + Affine(offset), type): (Value(fresh("part"), PTR), size)
        for variable, found in chosen.items()
        for (offset, type), size in found.items()
    }
    blocks = tuple(
        replace(block, instructions=tuple(_access(i, aliases, parts) for i in block.instructions))
        for block in function.blocks
    )
    first = blocks[0]
    reserved = tuple(
        Instruction("alloca", (integer_constant(function.address, size),), (value,), access=Access(size))
        for value, size in parts.values()
    )
    entry = replace(first, instructions=(*reserved, *first.instructions))
    return construct(replace(function, blocks=(entry, *blocks[1:])))


def _places(
    function: Function, aliases: Aliases, sizes: Mapping[Operand, int]
) -> dict[Operand, dict[tuple[int, Type], int]]:
    """By variable the places that are accessed, with their bytes; nothing for one that is accessed otherwise."""
    found: dict[Operand, dict[tuple[int, Type], int]] = {variable: {} for variable in sizes}
    for instruction in (i for block in function.blocks for i in block.instructions):
        if instruction.operation not in ("load", "store"):
            continue
        location = aliases.location(instruction)
        address = aliases.forms.form(instruction.operands[instruction.operation == "store"])
        # An address of several variables would be of none alone: all of them stay in memory.
        for variable in aliases.objects(address) & found.keys():
            at = address.constant
            is_inside = location is not None and 0 <= at <= sizes[variable] - location.size
            if location is not None and is_inside and address.terms == ((variable, 1),):
                found[variable][at, _type(instruction)] = location.size
            else:
                del found[variable]
    return found


def _type(access: Instruction) -> Type:
    return access.results[0].type if access.results else access.operands[0].type


def _has_disjoint_places(places: Mapping[tuple[int, Type], int]) -> bool:
    """Whether no two places share a byte: one that is accessed by two types would need a conversion of bits."""
    ordered = sorted((offset, size) for (offset, _), size in places.items())
    return all(a[0] + a[1] <= b[0] for a, b in pairwise(ordered))


def _access(
    instruction: Instruction, aliases: Aliases, parts: Mapping[tuple[Affine, Type], tuple[Value, int]]
) -> Instruction:
    location = aliases.location(instruction)
    if location is None or (location.address, _type(instruction)) not in parts:
        return instruction
    return replace(instruction, operands=(*instruction.operands[:-1], parts[location.address, _type(instruction)][0]))

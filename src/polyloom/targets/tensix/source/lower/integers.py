# SPDX-License-Identifier: Apache-2.0
"""Fixed point of lowering conditions: once more where an integer of a condition is needed beyond its region.

`int_of` under a condition gives its integer in the enabled lanes. Where others need it, it is made with all lanes
enabled; which those are is known only when the flags are, so that the lowering is repeated until nothing new turns up.
Each round widens an integer more, so that it ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.ir.ssa import Function, Instruction
from polyloom.targets.tensix.source.lower.conditions import lower_conditions
from polyloom.targets.tensix.source.lower.demand import demanded_lanes
from polyloom.targets.tensix.source.lower.masks import analyze_masks
from polyloom.targets.tensix.source.lower.select import select_instructions
from polyloom.targets.tensix.source.operations import called_operation
from polyloom.targets.tensix.words.isa import Member


def lower_all_conditions(function: Function, member: Member, optimize: bool) -> Function:
    """Lowering of conditions, with every integer in lanes enough."""
    made = frozenset(i.results[0].name for b in function.blocks for i in b.instructions if _name(i) == "int_of")
    wide: frozenset[str] = frozenset()
    while True:
        lowered = lower_conditions(function, optimize, wide)
        # Selection shows which instructions consume the integer, and thereby the lanes that they run in.
        more = frozenset(_narrow_integers(select_instructions(lowered, member), made - wide)) if made else made
        if not more:
            return lowered
        wide |= more


def _narrow_integers(function: Function, made: frozenset[str]) -> Iterator[str]:
    known = analyze_masks(function)
    wanted = demanded_lanes(function, known)
    for block in function.blocks:
        for instruction, enabled in zip(block.instructions, known.before.get(block.name, ()), strict=False):
            name = instruction.results[0].name if _name(instruction) == "assign" else ""
            if name in made and name in wanted and not known.covers(enabled, wanted[name]):
                yield name


def _name(instruction: Instruction) -> str:
    row = called_operation(instruction)
    return "" if row is None else row.name

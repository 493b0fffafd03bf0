# SPDX-License-Identifier: Apache-2.0
"""Redundant load elimination: loads of one address in a block or a superblock loop, between which nothing may store
there, are one load (Aho, Lam, Sethi, Ullman, "Compilers", 2006, section 9.1, of memory).

If-conversion brings them together: what several arms load, each for itself, is loaded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom.analysis.affine import Affine, AffineForms
from polyloom.analysis.aliases import is_plain_load
from polyloom.analysis.effects import effects, externals_of
from polyloom.analysis.points_to import PointsTo
from polyloom.analysis.superblocks import Superblock, superblocks, with_line, with_loop_operands, with_superblock
from polyloom.ir.ssa import Block, Function, Instruction, Operand
from polyloom.ir.ssa_types import Type
from polyloom.transform.ssa.editing import names, with_operands


def eliminate_redundant_loads(function: Function, points_to: PointsTo) -> Function:
    """The function, without those that it calls, with each value loaded once."""
    known: dict[Operand, Operand] = {}

    def operand(of: Operand) -> Operand:
        return known.get(of, of)

    fresh = names(function)
    loops = superblocks(function)
    for loop in loops:
        kept = {id(i) for i in _kept(function, loop, loop.instructions, points_to, known)}
        line = [item for item in loop.line if not isinstance(item, Instruction) or id(item) in kept]
        function = with_superblock(function, with_loop_operands(with_line(loop, line), operand), fresh)
    inside = {name for loop in loops for name in loop.blocks}
    blocks = [
        block
        if block.name in inside
        else replace(block, instructions=tuple(_kept(function, block, block.instructions, points_to, known)))
        for block in function.blocks
    ]
    return replace(function, blocks=tuple(with_operands(block, operand) for block in blocks))


def _kept(
    function: Function,
    line: Superblock | Block,
    instructions: Sequence[Instruction],
    points_to: PointsTo,
    known: dict[Operand, Operand],
) -> list[Instruction]:
    """The instructions without loads whose values are there; `known` gets what their results are."""
    forms, externals = AffineForms(function, line), externals_of(function)
    seen: dict[tuple[Affine, Type], Instruction] = {}
    kept: list[Instruction] = []
    for i in instructions:
        found = effects(i, externals)
        if is_plain_load(i):
            key = forms.address(i), i.results[0].type
            if key in seen:
                known[i.results[0]] = seen[key].results[0]
                continue
            seen[key] = i
        elif found - {"reads"}:
            seen = {key: load for key, load in seen.items() if not points_to.may_meet(load, i)}
        kept.append(i)
    return kept

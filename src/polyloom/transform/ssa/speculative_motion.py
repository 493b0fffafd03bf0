# SPDX-License-Identifier: Apache-2.0
"""Loop-invariant code motion out of superblock loops, on machines that speculate: loads too, from behind side exits,
where no store of the loop may meet them (Aho, Lam, Sethi, Ullman, "Compilers", 2006, section 9.5)."""

from __future__ import annotations

from dataclasses import replace

from polyloom.analysis.effects import effects, externals_of
from polyloom.analysis.points_to import PointsTo
from polyloom.analysis.superblocks import (
    Superblock,
    entry_edge,
    superblocks,
    with_line,
    with_preheader,
    with_superblock,
)
from polyloom.ir.ssa import SPECULATED, SPECULATIVE, Function, Instruction, Value
from polyloom.transform.ssa.editing import names
from polyloom.transform.ssa.hyperblocks import Speculation
from polyloom.transform.ssa.ifconvert import speculable
from polyloom.transform.ssa.preheaders import with_preheaders


def hoist_invariants(function: Function, points_to: PointsTo, speculation: Speculation) -> Function:
    """The function, without those that it calls, with what a loop computes of values from outside alone in front of
    it."""
    function = with_preheaders(function)
    fresh = names(function)
    for loop in superblocks(function):
        if outside := _invariants(function, loop, points_to, speculation):
            line = [item for item in loop.line if not any(item is i for i in outside)]
            moved = [replace(i, flags=(SPECULATIVE,) if _may_fault(i) else ()) for i in outside]
            entered = with_preheader(function, loop, moved, entry_edge(function, loop)[1].arguments)
            function = with_superblock(entered, with_line(loop, line), fresh)
    return function


def _may_fault(i: Instruction) -> bool:
    return i.operation in SPECULATED and not speculable(i, {})


def _invariants(
    function: Function, loop: Superblock, points_to: PointsTo, speculation: Speculation
) -> list[Instruction]:
    own, externals = set(loop.definitions), externals_of(function)
    stores = [i for i in loop.instructions if effects(i, externals) - {"reads"}]
    found: list[Instruction] = []
    for i in loop.instructions:
        if any(isinstance(o, Value) and o.name in own for o in i.operands):
            continue
        loads = effects(i, externals) == {"reads"} and len(i.operands) == 1
        speculates = i.operation in speculation.speculative and (loads or not effects(i, externals))
        if speculable(i, externals) or (speculates and not (loads and any(points_to.may_meet(i, s) for s in stores))):
            found.append(i)
            own -= {r.name for r in i.results}
    return found

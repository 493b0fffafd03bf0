# SPDX-License-Identifier: Apache-2.0
"""Code sinking (Knoop, Rüthing, Steffen, "Partial dead code elimination", 1994): what a superblock loop computes only
for behind it is computed there, of the operands that leave in its place.

An instruction moves where nothing but arguments of exits reads its result, and at most one of its operands varies, so
that no list of arguments grows.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from polyloom.analysis.effects import effects, externals_by_name
from polyloom.analysis.superblocks import SideExit, Superblock, superblock, superblocks, with_line, with_superblock
from polyloom.ir.ssa import SMEARS, Block, Edge, Function, Instruction, Operand, Value
from polyloom.transform.ssa.function_editing import names, on_each_function

Fresh = Callable[[str], str]


@on_each_function
def sink(function: Function) -> Function:
    """Partial dead code elimination by sinking (Knoop, Rüthing, Steffen 1994) out of superblock loops in loop-closed
    form (`loop_closed`), which is kept.
    """
    fresh = names(function)
    for name in [loop.name for loop in superblocks(function)]:
        while (moved := _sunk(function, superblock(function, name), fresh)) is not None:
            function = moved
    return function


def _sunk(function: Function, loop: Superblock, fresh: Fresh) -> Function | None:
    """With the last instruction that can move behind the loop, or nothing."""
    externals, own = externals_by_name(function), loop.definitions
    inside = (
        {o for i in loop.instructions for o in i.operands} | set(loop.following) | {e.condition for e in loop.exits}
    )
    leaving = {a for e in loop.exits for a in e.edge.arguments}
    for i in reversed(loop.instructions):
        # A smear also tells whether any lane is set, which the loop needs: behind it, it would be done once more.
        stays = i.operation in ("load", "alloca", *SMEARS)
        computes = len(i.results) == 1 and not stays and not effects(i, externals)
        if not computes or i.results[0] in inside or i.results[0] not in leaving:
            continue
        varying = {o for o in i.operands if isinstance(o, Value) and o.name in own}
        if len(varying) <= 1:
            return _sink_instruction(function, loop, i, varying, fresh)
    return None


def _sink_instruction(
    function: Function, loop: Superblock, i: Instruction, varying: Set[Value], fresh: Fresh
) -> Function:
    blocks = {block.name: block for block in function.blocks}
    line: list[Instruction | SideExit] = []
    for item in loop.line:
        if item is i:
            continue
        if isinstance(item, SideExit) and i.results[0] in item.edge.arguments:
            target = blocks[item.edge.block]
            arguments, blocks[target.name] = _at_exit_block(target, item.edge.arguments, i, varying, fresh)
            item = replace(item, edge=Edge(target.name, arguments))
        line.append(item)
    changed = replace(function, blocks=tuple(blocks[block.name] for block in function.blocks))
    return with_superblock(changed, with_line(loop, line), fresh)


def _at_exit_block(
    landing: Block, arguments: tuple[Operand, ...], i: Instruction, varying: Set[Value], fresh: Fresh
) -> tuple[tuple[Operand, ...], Block]:
    """The block behind an exit that computes it; its parameters for it become results of the instruction there."""
    kept: list[tuple[Value, Operand]] = []
    made: list[Instruction] = []
    given: dict[Operand, Value] = {}
    for value in varying:
        known = next((p for p, a in zip(landing.parameters, arguments, strict=True) if a == value), None)
        given[value] = known if known is not None else Value(fresh(value.name), value.type)
    for parameter, argument in zip(landing.parameters, arguments, strict=True):
        if argument == i.results[0]:
            made.append(replace(i, operands=tuple(given.get(o, o) for o in i.operands), results=(parameter,)))
        else:
            kept.append((parameter, argument))
    kept += [(parameter, value) for value, parameter in given.items() if parameter not in [p for p, _ in kept]]
    changed = replace(landing, parameters=tuple(p for p, _ in kept), instructions=(*made, *landing.instructions))
    return tuple(a for _, a in kept), changed

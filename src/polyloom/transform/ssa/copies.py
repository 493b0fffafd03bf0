# SPDX-License-Identifier: Apache-2.0
"""A loop beside a copy of it: blocks with other names, and what is computed in it handed to the code behind it as
parameters, so that either of the two may have run.

Only loops that are left to one block, or whose values nobody reads behind them, can be copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from polyloom.ir.ssa import Block, Edge, Operand, Value, edges_of, with_edges
from polyloom.ir.ssa_verify import definitions, uses
from polyloom.transform.ssa.editing import with_operands


def closed(blocks: Sequence[Block], members: Sequence[int], fresh: Callable[[str], str]) -> list[Block] | None:
    """The blocks with nothing of the loop read behind it but through parameters; None where it has several exits."""
    inside = {blocks[k].name for k in members}
    own = {value for k in members for value in definitions(blocks[k])}
    outside = [block for block in blocks if block.name not in inside]
    read = {o: None for b in outside for _, group in uses(b) for o in group if isinstance(o, Value) and o in own}
    if not read:
        return list(blocks)
    exits = {e.block for k in members for e in edges_of(blocks[k].terminator) if e.block not in inside}
    if len(exits) != 1 or any(e.block in exits for b in outside for e in edges_of(b.terminator)):
        return None
    # The only way out: it is dominated by what is read behind it, as is each edge to it.
    passed = {value: Value(fresh(value.name), value.type) for value in read}
    (name,) = exits

    def through(edge: Edge) -> Edge:
        return replace(edge, arguments=(*edge.arguments, *passed)) if edge.block == name else edge

    def operand(operand: Operand) -> Operand:
        return passed.get(operand, operand) if isinstance(operand, Value) else operand

    made: list[Block] = []
    for block in blocks:
        if block.name in inside:
            made.append(replace(block, terminator=with_edges(block.terminator, lambda o: o, through)))
        else:
            changed = with_operands(block, operand)
            parameters = (*changed.parameters, *passed.values()) if block.name == name else changed.parameters
            made.append(replace(changed, parameters=parameters))
    return made


def copied(blocks: Sequence[Block], fresh: Callable[[str], str]) -> tuple[dict[str, str], list[Block]]:
    """The blocks of a loop under other names, and these by the old ones; values have other names, too."""
    names = {block.name: fresh(block.name) for block in blocks}
    values = {value: Value(fresh(value.name), value.type) for block in blocks for value in definitions(block)}

    def operand(operand: Operand) -> Operand:
        return values.get(operand, operand) if isinstance(operand, Value) else operand

    def through(edge: Edge) -> Edge:
        return replace(edge, block=names.get(edge.block, edge.block))

    made: list[Block] = []
    for block in blocks:
        changed = with_operands(block, operand)
        instructions = tuple(
            replace(i, results=tuple(values[result] for result in i.results)) for i in changed.instructions
        )
        made.append(
            Block(
                names[block.name],
                tuple(values[p] for p in block.parameters),
                instructions,
                with_edges(changed.terminator, lambda o: o, through),
            )
        )
    return names, made

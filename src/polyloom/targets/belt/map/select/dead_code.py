# SPDX-License-Identifier: Apache-2.0
"""Dead code elimination of selected operations: what accesses, leaves and fused operations do themselves, and
parameters and arguments that nothing with an effect needs (Cytron et al., 1991, section 7.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from polyloom.targets.belt.source.ir import Block, Branch, Edge, Function, Jump, Loop, Operand, Value
from polyloom.targets.belt.source.ir_verify import end_operands, flow_edges

_EFFECTS: Final = ("store", "call", "calltr", "leave", "leavetr", "leavefl")


def eliminate_dead_code(function: Function) -> Function:
    """Function without operations, parameters and arguments that nothing with an effect needs. The function's own
    parameters stay."""
    blocks = {block.name: block for block in function.blocks}
    live = _live_values(function, blocks)
    first = function.blocks[0].name

    def kept_positions(name: str) -> list[int]:
        return [k for k, p in enumerate(blocks[name].parameters) if name == first or p.name in live]

    def edge(of: Edge) -> Edge:
        return Edge(of.target, tuple(of.arguments[k] for k in kept_positions(of.target)))

    made: list[Block | Loop] = []
    for block in function.blocks:
        parameters = tuple(block.parameters[k] for k in kept_positions(block.name))
        ops = tuple(
            op if op.edge is None else replace(op, edge=edge(op.edge))
            for op in block.ops
            if op.name in _EFFECTS or op.volatile or any(r.name in live for r in op.results)
        )
        if isinstance(block, Loop):
            # `order` goes: its positions are those of the old operations; `order_memory` makes it afterwards.
            following = tuple(block.next[k] for k in kept_positions(block.name))
            made.append(replace(block, parameters=parameters, ops=ops, next=following, order=()))
        else:
            end = block.terminator
            if isinstance(end, Jump):
                end = replace(end, edge=edge(end.edge))
            elif isinstance(end, Branch):
                end = replace(end, then=edge(end.then), orelse=edge(end.orelse))
            made.append(replace(block, parameters=parameters, ops=ops, terminator=end, order=()))
    return replace(function, blocks=tuple(made))


def _live_values(function: Function, blocks: dict[str, Block | Loop]) -> set[str]:
    """Live values: a work list from the operands of what has an effect, back through results, arguments and back
    arcs."""
    sources: dict[str, list[Operand]] = {}
    work: list[Operand] = []
    for block in function.blocks:
        for op in block.ops:
            for result in op.results:
                sources.setdefault(result.name, []).extend(op.operands)
            if op.name in _EFFECTS or op.volatile:
                work += op.operands
        for edge in flow_edges(block):
            _bind_arguments(sources, blocks[edge.target].parameters, edge.arguments)
        if isinstance(block, Loop):
            _bind_arguments(sources, block.parameters, block.next)
        else:
            work += end_operands(block)
    live: set[str] = set()
    while work:
        operand = work.pop()
        if isinstance(operand, Value) and operand.name not in live:
            live.add(operand.name)
            work += sources.get(operand.name, [])
    return live


def _bind_arguments(
    sources: dict[str, list[Operand]], parameters: Iterable[Value], arguments: Iterable[Operand]
) -> None:
    for parameter, argument in zip(parameters, arguments, strict=True):
        sources.setdefault(parameter.name, []).append(argument)

# SPDX-License-Identifier: Apache-2.0
"""One block before each loop that alone jumps into it, for what passes compute before the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polyloom.targets.belt.ir import Block, Edge, Function, Jump, Loop, Value, end_edges
from polyloom.targets.belt.ir_verify import edges

Fresh = Callable[[str], str]


def headed(function: Function, fresh: Fresh) -> Function:
    for loop in [b for b in function.blocks if isinstance(b, Loop)]:
        ways = [(b, e) for b in function.blocks for e in edges(b) if e.target == loop.name]
        if len(ways) == 1 and isinstance(ways[0][0], Block) and isinstance(ways[0][0].terminator, Jump):
            continue
        function = _headed(function, loop, fresh)
    return function


def _headed(function: Function, loop: Loop, fresh: Fresh) -> Function:
    parameters = tuple(Value(fresh(p.name), p.type) for p in loop.parameters)
    head = Block(fresh(loop.name), parameters, (), Jump(Edge(loop.name, parameters)))

    def edge(of: Edge) -> Edge:
        return Edge(head.name, of.arguments) if of.target == loop.name else of

    blocks: list[Block | Loop] = []
    for block in function.blocks:
        if block.name == loop.name:
            blocks.append(head)
        if isinstance(block, Loop):
            ops = tuple(op if op.edge is None else replace(op, edge=edge(op.edge)) for op in block.ops)
            blocks.append(replace(block, ops=ops))
        else:
            blocks.append(replace(block, terminator=end_edges(block.terminator, edge)))
    return replace(function, blocks=tuple(blocks))

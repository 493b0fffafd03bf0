# SPDX-License-Identifier: Apache-2.0
"""A block before each reducible loop: the only one outside it that jumps to its header, and to nothing else.

What a loop computes again and again can be computed there once. A loop that is entered so already is left as it is; the
others get a new block that passes on its parameters.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.analysis.loops import loop_forest
from polyloom.ir.ssa import Block, Edge, Function, Jump, Value, flow_edges, replace_edges, successor_edges
from polyloom.transform.ssa.function_editing import names, remove_unreachable


def with_preheaders(function: Function) -> Function:
    """Preheaders (Muchnick 1997, section 7.4): the function, with blocks that nothing reaches left
    out, entering every reducible loop through such a block.
    """
    function = remove_unreachable(function)
    forest = loop_forest(len(function.blocks), flow_edges(function))
    for number, loop in enumerate(forest.loops):
        if not loop.irreducible:
            inside = {function.blocks[k].name for k in forest.members(number)}
            function = replace(function, blocks=_with_preheader(function, function.blocks[loop.header], inside))
            # Positions of the blocks stay: the new one is the last.
    return function


def _with_preheader(function: Function, header: Block, inside: set[str]) -> tuple[Block, ...]:
    entering = [
        block
        for block in function.blocks
        if block.name not in inside and any(edge.block == header.name for edge in successor_edges(block.terminator))
    ]
    if len(entering) == 1 and isinstance(entering[0].terminator, Jump):
        return function.blocks
    fresh = names(function)
    before = fresh("enter")
    edges = [edge for block in entering for edge in successor_edges(block.terminator) if edge.block == header.name]
    # The arguments of a single edge stand where they are used, so that constants are seen to be such.
    alone = len(edges) == 1
    passed = () if alone else tuple(Value(fresh(p.name), p.type) for p in header.parameters)

    def to_preheader(edge: Edge) -> Edge:
        return Edge(before, () if alone else edge.arguments) if edge.block == header.name else edge

    blocks = tuple(
        block
        if block.name in inside
        else replace(block, terminator=replace_edges(block.terminator, lambda operand: operand, to_preheader))
        for block in function.blocks
    )
    return (*blocks, Block(before, passed, (), Jump(Edge(header.name, edges[0].arguments if alone else passed))))

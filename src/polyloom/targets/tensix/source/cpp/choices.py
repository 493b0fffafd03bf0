# SPDX-License-Identifier: Apache-2.0
"""Branches for choices between two vectors, which the machine does not have; and copies of vectors, which are left out.

%r = select %c, %a, %b   becomes   branch %c, then, else; then: jump next(%a); else: jump next(%b); next(%r): ...
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from polyloom.ir.ssa import Block, Branch, Edge, Function, Instruction, Jump, Operand, Value
from polyloom.ir.ssa_types import I1
from polyloom.names import fresh_name
from polyloom.targets.tensix.source.operations import MASK, VECTOR
from polyloom.transform.ssa.function_editing import with_operands


def branch_choices(function: Function) -> Function:
    """Function without choices and copies of vectors."""
    taken = {block.name for block in function.blocks}
    blocks = [part for block in function.blocks for part in _split_at_choices(block, taken)]
    copies = {
        i.results[0].name: i.operands[0]
        for b in blocks
        for i in b.instructions
        if i.operation == "copy" and _is_vector(i)
    }

    def source(operand: Operand) -> Operand:
        while isinstance(operand, Value) and operand.name in copies:
            operand = copies[operand.name]
        return operand

    return replace(function, blocks=tuple(with_operands(_drop_copies(b, copies.keys()), source) for b in blocks))


def _is_vector(i: Instruction) -> bool:
    return i.results[0].type in (VECTOR, MASK)


def _drop_copies(block: Block, copied: Container[str]) -> Block:
    kept = tuple(i for i in block.instructions if not (i.results and i.results[0].name in copied))
    return replace(block, instructions=kept)


def _split_at_choices(block: Block, taken: set[str]) -> Iterator[Block]:
    """Block, ended before each choice of a vector."""
    name, parameters = block.name, block.parameters
    made: list[Instruction] = []
    for i in block.instructions:
        if i.operation != "select" or not _is_vector(i) or i.operands[0].type != I1:
            made.append(i)
            continue
        condition, then, orelse = i.operands
        # Both arms need a block of their own: an edge cannot be told from another one between the same two blocks.
        ways = fresh_name(f"{block.name}.then", taken), fresh_name(f"{block.name}.else", taken)
        following = fresh_name(f"{block.name}.chosen", taken)
        yield Block(name, parameters, tuple(made), Branch(condition, Edge(ways[0]), Edge(ways[1]), i.place))
        for way, value in zip(ways, (then, orelse), strict=True):
            yield Block(way, (), (), Jump(Edge(following, (value,)), i.place))
        name, parameters, made = following, i.results, []
    yield Block(name, parameters, tuple(made), block.terminator)

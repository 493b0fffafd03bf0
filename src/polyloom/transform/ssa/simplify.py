# SPDX-License-Identifier: Apache-2.0
"""Simplification: constants and identities folded, parameters that are one operand, branches on constants and empty
blocks left out, to a fixed point.

The blocks are walked in reverse postorder, so that an operand is simplified before what reads it; parameters of loops
are looked at again in the next round (`folding` has the rules of instructions).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Final

from polyloom.ir.ssa import (
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Switch,
    Terminator,
    Undef,
    Value,
    replace_edges,
    successor_edges,
)
from polyloom.ir.ssa_verify import uses
from polyloom.transform.ssa.constant_folding import simplify_instruction
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.function_editing import (
    merge_blocks,
    on_each_function,
    postorder,
    remove_unreachable,
    with_operands,
)

ROUNDS: Final = 12
"""Each finds what the one before uncovered; programs need three or four."""


@on_each_function
def simplify(function: Function) -> Function:
    """Simplification to a fixed point: folding, copy propagation of parameters, branch folding, jump threading and dead
    code (Muchnick 1997, chapters 12 and 18): the function in simpler form, without dead code.
    """
    for _ in range(ROUNDS):
        changed = dce(merge_blocks(skip_empty_blocks(_Walk(remove_unreachable(function)).function())))
        if changed == function:
            break
        function = changed
    return function


class _Walk:
    """Mutable: what values turned out to be, and what makes them."""

    def __init__(self, function: Function) -> None:
        self.source = function
        self.known: dict[str, Operand] = {}
        self.makers: dict[str, Instruction] = {}

    def function(self) -> Function:
        blocks = {block.name: block for block in self.source.blocks}
        self._bind_parameters()
        for name in reversed(postorder(self.source)):
            blocks[name] = self._block(blocks[name])
        made = tuple(with_operands(block, self.operand) for block in blocks.values())
        return replace(self.source, blocks=tuple(map(_with_folded_branch, made)))

    def operand(self, operand: Operand) -> Operand:
        while isinstance(operand, Value) and operand.name in self.known:
            operand = self.known[operand.name]
        return operand

    def _bind_parameters(self) -> None:
        """A parameter that gets the same operand along all edges is that one."""
        given: defaultdict[str, list[tuple[Operand, ...]]] = defaultdict(list)
        for block in self.source.blocks:
            for edge in successor_edges(block.terminator):
                given[edge.block].append(edge.arguments)
        for block in self.source.blocks[1:]:
            for k, parameter in enumerate(block.parameters):
                # A loop's way back that passes the parameter itself on adds nothing.
                found = {self.operand(a[k]) for a in given[block.name]} - {parameter}
                if len(found) == 1 and not isinstance(only := next(iter(found)), Undef):
                    self.known[parameter.name] = only

    def _block(self, block: Block) -> Block:
        kept: list[Instruction] = []
        for old in block.instructions:
            instruction = replace(old, operands=tuple(map(self.operand, old.operands)))
            found = simplify_instruction(instruction, self.makers)
            while isinstance(found, Instruction):
                instruction = found
                found = simplify_instruction(instruction, self.makers)
            if found is not None:
                self.known[instruction.results[0].name] = found
                continue
            self.makers |= {result.name: instruction for result in instruction.results}
            kept.append(instruction)
        return replace(block, instructions=tuple(kept))


def _with_folded_branch(block: Block) -> Block:
    """The block with a jump in place of a branch that always goes the same way."""
    return replace(block, terminator=_folded_branch(block.terminator))


def _folded_branch(end: Terminator) -> Terminator:
    match end:
        case Branch(Constant(_, value), then, orelse):
            return Jump(then if value & 1 else orelse, end.place)
        case Branch(_, then, orelse) if then == orelse:
            return Jump(then, end.place)
        case Switch(Constant(_, value), default, cases):
            return Jump(dict(cases).get(value, default), end.place)
        case _:
            return end


@on_each_function
def skip_empty_blocks(function: Function) -> Function:
    """Jump threading through empty blocks (Muchnick 1997, section 18.7): the function whose jumps go past blocks that
    only jump on, or branch on what the jump gives them as a constant.

    Blocks whose parameters are read elsewhere stay: others would have to get them.
    """
    read: defaultdict[str, set[str]] = defaultdict(set)
    for block in function.blocks:
        for _, operands in uses(block):
            for operand in operands:
                if isinstance(operand, Value):
                    read[operand.name].add(block.name)
    empty = {
        block.name: block
        for block in function.blocks[1:]
        if not block.instructions and all(read[p.name] <= {block.name} for p in block.parameters)
    }

    def thread(edge: Edge) -> Edge:
        seen: set[str] = set()
        # Empty blocks may jump in a circle: an endless loop of the program's.
        while edge.block in empty and edge.block not in seen:
            seen.add(edge.block)
            block = empty[edge.block]
            given = dict(zip(block.parameters, edge.arguments, strict=True))

            def operand(old: Operand, given: dict[Value, Operand] = given) -> Operand:
                return given.get(old, old) if isinstance(old, Value) else old

            end = _folded_branch(replace_edges(block.terminator, operand, lambda edge: edge))
            if not isinstance(end, Jump):
                break
            edge = Edge(end.target.block, tuple(map(operand, end.target.arguments)))
        return edge

    blocks = tuple(
        replace(block, terminator=replace_edges(block.terminator, lambda operand: operand, thread))
        for block in function.blocks
    )
    return remove_unreachable(replace(function, blocks=blocks))

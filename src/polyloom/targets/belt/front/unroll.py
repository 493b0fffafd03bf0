# SPDX-License-Identifier: Apache-2.0
"""Loops within loops whose few iterations are counted by constants become straight code, so that the loop around them
is innermost and pipelines. A loop of one block is unrolled where following its constants leads to its end."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.analysis.loops import loop_forest
from polyloom.ir.ssa import (
    ARITHMETIC,
    COMPARISONS,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Value,
    edges_of,
    flow_edges,
    with_edges,
)
from polyloom.ir.ssa_semantics import Undefined, arithmetic, compare
from polyloom.ir.ssa_types import INTEGERS
from polyloom.transform.ssa.editing import merge_blocks, names, throughout, with_operands

MOST: Final = 320
"""Instructions that a loop may become."""


@throughout
def unroll(function: Function) -> Function:
    while (changed := _first(function)) is not None:
        function = merge_blocks(changed)
    return function


def _first(function: Function) -> Function | None:
    """The function without the first loop that can be unrolled."""
    forest = loop_forest(len(function.blocks), flow_edges(function))
    for loop in forest.loops:
        if loop.parent < 0 or len(loop.own) != 1 or loop.latches != (loop.header,):
            continue
        block = function.blocks[loop.header]
        entering = [
            edge
            for other in function.blocks
            if other is not block
            for edge in edges_of(other.terminator)
            if edge.block == block.name
        ]
        if len(entering) == 1 and (made := _straight(function, block, entering[0])) is not None:
            return made
    return None


def _straight(function: Function, block: Block, entry: Edge) -> Function | None:
    end, fresh = block.terminator, names(function)
    if not isinstance(end, Branch):
        return None
    known: dict[str, Operand] = {}
    made: list[Instruction] = []

    def operand(of: Operand) -> Operand:
        return known.get(of.name, of) if isinstance(of, Value) else of

    arguments = entry.arguments
    while len(made) <= MOST:
        known |= {p.name: a for p, a in zip(block.parameters, arguments, strict=True)}
        for instruction in block.instructions:
            given = tuple(map(operand, instruction.operands))
            result = instruction.result
            if result is not None and (folded := _folded(instruction, given)) is not None:
                known[result.name] = folded
                continue
            results = tuple(Value(fresh(r.name), r.type) for r in instruction.results)
            made.append(replace(instruction, operands=given, results=results))
            known |= {old.name: new for old, new in zip(instruction.results, results, strict=True)}
        decided = operand(end.condition)
        if not isinstance(decided, Constant):
            return None
        taken = end.then if decided.value & 1 else end.orelse
        arguments = tuple(map(operand, taken.arguments))
        if taken.block != block.name:
            line = Block(block.name, (), tuple(made), Jump(Edge(taken.block, arguments), end.place))
            return _replaced(function, line, known)
    return None


def _folded(instruction: Instruction, given: tuple[Operand, ...]) -> Constant | None:
    constants = [o for o in given if isinstance(o, Constant)]
    if len(constants) != len(given) or instruction.result is None or given[0].type not in INTEGERS:
        return None
    type = instruction.result.type
    try:
        if instruction.operation in ARITHMETIC:
            found = arithmetic(instruction.operation, type, constants[0].value, constants[1].value)
            return Constant(type, found)
        if instruction.operation in COMPARISONS:
            return Constant(type, compare(instruction.operation, given[0].type, constants[0].value, constants[1].value))
    except Undefined:
        return None
    return None


def _replaced(function: Function, line: Block, known: dict[str, Operand]) -> Function:
    """The loop's block is the line, entered without arguments; what it gave is what the last iteration gave."""

    def operand(of: Operand) -> Operand:
        return known.get(of.name, of) if isinstance(of, Value) else of

    def edge(of: Edge) -> Edge:
        return Edge(of.block) if of.block == line.name else of

    kept = [
        line
        if block.name == line.name
        else replace((b := with_operands(block, operand)), terminator=with_edges(b.terminator, lambda o: o, edge))
        for block in function.blocks
    ]
    return replace(function, blocks=tuple(kept))

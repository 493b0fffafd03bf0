# SPDX-License-Identifier: Apache-2.0
"""Replacement of assignments outside of conditions: there `assign(old, new)` is `new`, in whatever uses it.

So the product of `y = a * b` meets the sum of `y + c` wherever y was declared, and contracts with it (docs/sfpi.md).
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.ssa import Edge, Function, Instruction, Operand, Value, replace_edges
from polyloom.targets.tensix.source.operations import called_operation
from polyloom.targets.tensix.source.regions import analyze_regions


def replace_assignments(function: Function) -> Function:
    """Function without assignments outside of conditions. Raises PL1240 where conditions are not balanced."""
    known = analyze_regions(function)
    news: dict[str, Operand] = {}
    gone: set[tuple[str, int]] = set()
    for block in function.blocks:
        for k, instruction in enumerate(block.instructions):
            spot = block.name, k
            if _assigns(instruction) and spot in known.frames and not known.depth(spot):
                news[instruction.results[0].name] = instruction.operands[1]
                gone.add(spot)

    def resolve(operand: Operand) -> Operand:
        while isinstance(operand, Value) and operand.name in news:
            operand = news[operand.name]
        return operand

    def edge(old: Edge) -> Edge:
        return Edge(old.block, tuple(resolve(argument) for argument in old.arguments))

    blocks = tuple(
        replace(
            block,
            instructions=tuple(
                replace(i, operands=tuple(map(resolve, i.operands)))
                for k, i in enumerate(block.instructions)
                if (block.name, k) not in gone
            ),
            terminator=replace_edges(block.terminator, resolve, edge),
        )
        for block in function.blocks
    )
    return replace(function, blocks=blocks)


def _assigns(instruction: Instruction) -> bool:
    row = called_operation(instruction)
    return row is not None and row.name == "assign"

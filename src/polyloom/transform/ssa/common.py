# SPDX-License-Identifier: Apache-2.0
"""Common subexpressions: an operation whose operands and result are those of one that dominates it gives that one's
result.

A walk over the dominator tree with a table of what the blocks above compute. Memory is not looked into: loads stay. So
do calls of external functions that have an effect.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.analysis.dominators import dominators
from polyloom.analysis.effects import effects, externals_by_name
from polyloom.ir.ssa import (
    ARITHMETIC,
    CASTS,
    COMPARISONS,
    FLOAT_COMPARISONS,
    FLOATING,
    INTRINSICS,
    LANES,
    NOWHERE,
    REDUCTIONS,
    Block,
    Function,
    Instruction,
    Operand,
    Value,
    flow_edges,
)
from polyloom.transform.ssa.function_editing import on_each_function, remove_unreachable, with_operands

_PURE: Final = frozenset(
    (*ARITHMETIC, *FLOATING, *COMPARISONS, *FLOAT_COMPARISONS, *CASTS, "fneg", "select", "offset", *LANES)
)


@on_each_function
def common(function: Function) -> Function:
    """Global common subexpression elimination by dominance, hash-based value numbering (Briggs, Cooper, Simpson, "Value
    numbering", 1997): the function, with blocks that nothing reaches left out, computing each value once on every path.
    """
    function = remove_unreachable(function)
    above: list[int] = dominators(len(function.blocks), flow_edges(function)).tolist()
    below: list[list[int]] = [[] for _ in above]
    for node, parent in enumerate(above):
        if parent >= 0:
            below[parent].append(node)
    walk = _Walk(function)
    # The recursion over the dominator tree as a stack: functions may have a hundred thousand blocks.
    work: list[tuple[int, bool]] = [(0, True)]
    while work:
        k, enters = work.pop()
        if enters:
            walk.enter(k)
            work += [(k, False), *((child, True) for child in reversed(below[k]))]
        else:
            walk.leave()
    return replace(function, blocks=tuple(with_operands(block, walk.operand) for block in walk.blocks))


class _Walk:
    """Mutable: the table, what each open block added to it, and values that others stand for."""

    def __init__(self, function: Function) -> None:
        self.blocks: list[Block] = list(function.blocks)
        self.table: dict[Instruction, tuple[Value, ...]] = {}
        self.externals = externals_by_name(function)
        self.added: list[list[Instruction]] = []
        self.known: dict[str, Value] = {}

    def operand(self, operand: Operand) -> Operand:
        return self.known.get(operand.name, operand) if isinstance(operand, Value) else operand

    def enter(self, k: int) -> None:
        kept: list[Instruction] = []
        self.added.append([])
        for instruction in self.blocks[k].instructions:
            found = replace(instruction, operands=tuple(map(self.operand, instruction.operands)))
            if not self._number(found):
                kept.append(found)
        self.blocks[k] = replace(self.blocks[k], instructions=tuple(kept))

    def leave(self) -> None:
        # What a block computes is known in the blocks that it dominates, and nowhere else.
        for key in self.added.pop():
            del self.table[key]

    def _number(self, instruction: Instruction) -> bool:
        results = instruction.results
        if not results or not self._computes(instruction):
            return False
        # Equal but for names and lines. Operands have been replaced by what they stand for, so that chains are found in
        # one walk.
        key = replace(instruction, results=tuple(Value("", result.type) for result in results), place=NOWHERE)
        if key in self.table:
            self.known |= {result.name: value for result, value in zip(results, self.table[key], strict=True)}
            return True
        self.table[key] = results
        self.added[-1].append(key)
        return False

    def _computes(self, instruction: Instruction) -> bool:
        # A function that only reads is called again: memory may have changed.
        if instruction.called:
            return not effects(instruction, self.externals)
        return instruction.operation in _PURE or instruction.callee in INTRINSICS or instruction.callee in REDUCTIONS

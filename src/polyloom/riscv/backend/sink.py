# SPDX-License-Identifier: Apache-2.0
"""Code sinking to the back edge of a loop (partial dead code elimination, Knoop, Rüthing and Steffen 1994).

Where the test at the end of a loop reads a variable, and not its next value, both would be live at once and be copied
in each iteration. What the next iteration alone uses is computed behind the test instead, in the register of what it
follows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from polyloom.ir.ssa import Block, Branch, Constant, Function, Instruction, Jump, Operand, Value, successor_edges
from polyloom.ir.ssa_verify import uses
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.function_editing import names, on_each_function


@on_each_function
def sink_steps(function: Function) -> Function:
    """The function with such steps in the blocks on its back edges. Its critical edges are split and its blocks are in
    order.
    """
    position = {block.name: k for k, block in enumerate(function.blocks)}
    arrivals = Counter(edge.block for block in function.blocks for edge in successor_edges(block.terminator))
    work = _Work(function)
    for block in function.blocks:
        for edge in successor_edges(block.terminator) if isinstance(block.terminator, Branch) else ():
            way = work.blocks[edge.block]
            # Only a block that the edge alone reaches can take them: on other ways the steps would be computed twice.
            if way.instructions or arrivals[way.name] != 1 or not isinstance(way.terminator, Jump):
                continue
            # The target stands before: a back edge, since blocks are in placement order.
            if position[way.terminator.target.block] <= position[block.name]:
                work.sink(block, way, way.terminator)
    return dce(replace(function, blocks=tuple(work.blocks.values())))


class _Work:
    """Mutable: the blocks; how often each value is read, and its definition."""

    def __init__(self, function: Function) -> None:
        self.blocks, self.fresh = {block.name: block for block in function.blocks}, names(function)
        self.read = Counter(
            o.name for b in function.blocks for _, group in uses(b) for o in group if isinstance(o, Value)
        )
        self.made = {r.name: i for b in function.blocks for i in b.instructions for r in i.results}

    def sink(self, block: Block, way: Block, jump: Jump) -> None:
        """Sinks the next values of a loop's variables to its back edge, where its last block tests one of them."""
        assert isinstance(block.terminator, Branch)
        # Only a test of the variable itself keeps it alive beside its next value.
        test = self._definition(block.terminator.condition)
        variables = self.blocks[jump.target.block].parameters
        steps = [self._step(variable, value) for variable, value in zip(variables, jump.target.arguments, strict=True)]
        tested = [v for v, step in zip(variables, steps, strict=True) if step and test and v in test.operands]
        if not tested:
            return
        # Copies, under new names: the originals are removed by dead-code elimination where nothing else reads them.
        moved = [
            replace(step, results=(Value(self.fresh(v.name), v.type),)) if step else None
            for v, step in zip(variables, steps, strict=True)
        ]
        arguments = tuple(m.results[0] if m else a for m, a in zip(moved, jump.target.arguments, strict=True))
        edge = replace(jump.target, arguments=arguments)
        self.blocks[way.name] = replace(
            way, instructions=tuple(m for m in moved if m), terminator=replace(jump, target=edge)
        )

    def _definition(self, operand: Operand) -> Instruction | None:
        return self.made.get(operand.name) if isinstance(operand, Value) else None

    def _step(self, variable: Value, value: Operand) -> Instruction | None:
        """Definition of a variable's next value by a constant step, where only this edge reads it, or where it is an
        address that loads and stores can form themselves.
        """
        step = self._definition(value)
        is_step = step is not None and step.operands[:1] == (variable,) and isinstance(step.operands[-1], Constant)
        if step is None or not is_step or not isinstance(value, Value):
            return None
        # An addition with other readers would be computed twice; an address folds into loads and stores at no cost.
        alone = step.operation == "add" and self.read[value.name] == 1
        return step if step.operation == "offset" or alone else None

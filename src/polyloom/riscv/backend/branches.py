# SPDX-License-Identifier: Apache-2.0
"""Reverse if-conversion (Warter et al. 1993), by cost: selects become branches where the instruction set has no short
sequence for them.

A select, or a minimum or maximum, whose sequence of the select table executes more instructions than a branch over one
does, ends its block with that branch, and the next block gets the result as a parameter. Selects on the same condition
that depend on nothing in between share the branch. What only one arm uses is computed there (code sinking). Floats have
no other selects: RISC-V has no conditional move of f registers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from polyloom.analysis.effects import externals_by_name
from polyloom.ir.ssa import COMPARISONS, Block, Branch, Constant, Edge, Function, Instruction, Jump, Operand, Value
from polyloom.ir.ssa_types import FLOATS, I1, I64
from polyloom.ir.ssa_verify import uses
from polyloom.riscv.backend.context import FUNCTIONS
from polyloom.riscv.backend.folds import RING
from polyloom.riscv.names import Isa
from polyloom.riscv.selects.expression import FUNCTIONS as MEANINGS
from polyloom.riscv.selects.expression import RELATIONS, Expression, binary, choose, comparison, unary
from polyloom.riscv.selects.select import select_expression
from polyloom.transform.ssa.function_editing import names, on_each_function
from polyloom.transform.ssa.speculation import speculable

BRANCH: Final = 3
"""As many instructions of a sequence are worth less than a branch and what its wrong predictions cost."""
_EXTREMES: Final = {"smin": "slt", "smax": "sgt", "umin": "ult", "umax": "ugt"}
_BINARY: Final = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "shl": "<<"}


@on_each_function
def convert_selects(function: Function, isa: Isa) -> Function:
    """The function without selects of floats, and without those that are longer than a branch."""
    work = _Work(function, isa)
    return replace(function, blocks=tuple(part for block in function.blocks for part in work.parted(block)))


class _Work:
    """Selects of a function: how often each value is used, and fresh names."""

    def __init__(self, function: Function, isa: Isa) -> None:
        self.isa, self.fresh = isa, names(function)
        self.externals = externals_by_name(function)
        self.used = Counter(
            o.name for block in function.blocks for _, read in uses(block) for o in read if isinstance(o, Value)
        )

    def parted(self, block: Block) -> Iterator[Block]:
        """Block in parts: each but the last ends in the branch of a select that becomes one."""
        while (at := self.next(block)) is not None:
            plain = self.with_comparison(block, at)
            # A minimum has become two instructions, so that what stood at `at` may now stand one further.
            condition = plain.instructions[at + len(plain.instructions) - len(block.instructions)].operands[0]
            # A short one on the same condition is part of the branch, too.
            before, group, behind = self.group_selects(plain.instructions, condition)
            test, before = self.apart(before, condition)
            before, sunk = self.sink_arms(before, group, condition)
            join, place = self.fresh(block.name), group[0].place
            then, then_blocks = self.arm(join, group, 1, sunk[0])
            orelse, orelse_blocks = self.arm(join, group, 2, sunk[1])
            branch = Branch(condition, then, orelse, place)
            yield Block(block.name, block.parameters, (*before, *test), branch)
            yield from (*then_blocks, *orelse_blocks)
            block = Block(join, tuple(i.results[0] for i in group), behind, block.terminator)
        yield block

    def next(self, block: Block) -> int | None:
        """Position of the first select that is longer than a branch; None if there is none."""
        made = {result.name: i for i in block.instructions for result in i.results}
        return next((k for k, i in enumerate(block.instructions) if self.is_long(i, made)), None)

    def is_long(self, instruction: Instruction, made: dict[str, Instruction]) -> bool:
        """Whether a branch executes fewer instructions than the select's sequence, weighted for mispredictions
        (`BRANCH`).
        """
        result = instruction.result if len(instruction.results) == 1 else None
        is_extreme = instruction.operation == "call" and instruction.callee in _EXTREMES
        if result is None or not (is_extreme or instruction.operation == "select"):
            return False
        if instruction.operation == "select" and isinstance(instruction.operands[0], Constant):
            return False
        # No sequence exists: f registers have no bitwise operations.
        if result.type in FLOATS:
            return True
        # czero makes three instructions of any select, and a short forward branch two; single bits are logic.
        if "zicond" in self.isa.extensions or self.isa.short_branches or result.type == I1:
            return False
        # Two words per value: the sequence is twice as long, the branch is not.
        if result.type == I64 and self.isa.xlen == 32:
            return True
        return _sequence_length(_Shape(made, self.used).of(instruction), self.isa) > BRANCH

    def with_comparison(self, block: Block, at: int) -> Block:
        """The block with a minimum or a maximum as a comparison and a select."""
        instruction = block.instructions[at]
        if instruction.operation == "select":
            return block
        a, b = instruction.operands
        found = Value(self.fresh("less"), I1)
        self.used[found.name] += 1
        for operand in (a, b):
            if isinstance(operand, Value):
                self.used[operand.name] += 1
        test = Instruction(_EXTREMES[instruction.callee], (a, b), (found,), place=instruction.place)
        chosen = replace(instruction, operation="select", callee="", operands=(found, a, b))
        return replace(block, instructions=(*block.instructions[:at], test, chosen, *block.instructions[at + 1 :]))

    def group_selects(
        self, instructions: Sequence[Instruction], condition: Operand
    ) -> tuple[list[Instruction], list[Instruction], tuple[Instruction, ...]]:
        """Selects that share a branch: (what stands before it, the selects, what stands behind)."""
        at = next(k for k, i in enumerate(instructions) if _has_condition(i, condition))
        before, group = list(instructions[:at]), [instructions[at]]
        behind: list[Instruction] = []
        # What depends on the selects, or on what stays behind them, stays behind.
        late = set(instructions[at].results)
        rest = instructions[at + 1 :]
        last = max((k for k, i in enumerate(rest) if _has_condition(i, condition)), default=-1)
        for instruction in rest[: last + 1]:
            if any(o in late for o in instruction.operands):
                behind.append(instruction)
                late |= set(instruction.results)
            elif _has_condition(instruction, condition):
                group.append(instruction)
                late |= set(instruction.results)
            elif speculable(instruction, self.externals):
                before.append(instruction)
            else:
                behind.append(instruction)
                late |= set(instruction.results)
        return before, group, (*behind, *rest[last + 1 :])

    def apart(self, before: list[Instruction], condition: Operand) -> tuple[tuple[Instruction, ...], list[Instruction]]:
        """The comparison that decides the branch and nothing else, apart: it stands last, where selection fuses
        both."""
        test = next((i for i in before if condition in i.results), None)
        if test is None or test.operation not in COMPARISONS or any(test.results[0] in i.operands for i in before):
            return (), before
        return (test,), [i for i in before if i is not test]

    def sink_arms(
        self, before: list[Instruction], group: list[Instruction], condition: Operand
    ) -> tuple[list[Instruction], tuple[list[Instruction], list[Instruction]]]:
        """Code sinking into the arms: instructions whose results only the selects of one arm use, for each arm."""
        moved: tuple[list[Instruction], list[Instruction]] = ([], [])
        wanted = [Counter(o.name for i in group if isinstance(o := i.operands[k], Value)) for k in (1, 2)]
        kept: list[Instruction] = []
        for instruction in reversed(before):
            result = instruction.results[0] if len(instruction.results) == 1 else None
            # All uses are in this arm: the number of uses that the arm's selects and sunk instructions make is the
            # total.
            arm = next((k for k in (0, 1) if result and wanted[k][result.name] == self.used[result.name] > 0), None)
            if arm is None or result == condition or not speculable(instruction, self.externals):
                kept.append(instruction)
                continue
            moved[arm].insert(0, instruction)
            wanted[arm].update(o.name for o in instruction.operands if isinstance(o, Value))
        return kept[::-1], moved

    def arm(self, join: str, group: list[Instruction], k: int, moved: list[Instruction]) -> tuple[Edge, list[Block]]:
        """Edge to the arm of the selects' operands k, which is a block of its own where it computes something."""
        edge = Edge(join, tuple(i.operands[k] for i in group))
        if not moved:
            return edge, []
        name = self.fresh("arm")
        return Edge(name), [Block(name, (), tuple(moved), Jump(edge, group[0].place))]


@cache
def _sequence_length(expression: Expression, isa: Isa) -> int:
    return select_expression(expression, isa).length


def _has_condition(instruction: Instruction, condition: Operand) -> bool:
    return instruction.operation == "select" and instruction.operands[0] == condition


class _Shape:
    """Select as an expression of the select table, whose parts are definitions that nothing else uses."""

    def __init__(self, made: dict[str, Instruction], used: Counter[str]) -> None:
        self.made, self.used, self.known = made, used, dict[Operand, str]()

    def of(self, instruction: Instruction) -> Expression:
        if instruction.callee in FUNCTIONS:
            a, b = map(self.leaf, (instruction.operands[0], instruction.operands[-1]))
            return MEANINGS[FUNCTIONS[instruction.callee]][1](a, b)
        return choose(*map(self.part, instruction.operands))

    def part(self, operand: Operand) -> Expression:
        made = self.made.get(operand.name) if isinstance(operand, Value) and self.used[operand.name] == 1 else None
        if made is None:
            return self.leaf(operand)
        if made.operation in COMPARISONS and made.operands[0].type != I1:
            return comparison(RELATIONS[made.operation], *map(self.leaf, made.operands))
        if made.operation in RING and made.operation in _BINARY:
            a, b = map(self.leaf, made.operands)
            return unary("~", a) if made.operation == "xor" and b == -1 else binary(_BINARY[made.operation], a, b)
        return choose(*map(self.part, made.operands)) if made.operation == "select" else self.leaf(operand)

    def leaf(self, operand: Operand) -> Expression:
        if isinstance(operand, Constant):
            return operand.value
        kind = "s" if operand.type == I1 else "v"
        return self.known.setdefault(operand, f"{kind}{len(self.known)}")

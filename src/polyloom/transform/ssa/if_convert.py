# SPDX-License-Identifier: Apache-2.0
"""If-conversion: branches whose arms only compute become selects (Allen, Kennedy, Porterfield, Warren, 1983).

An arm is a block that the branch alone leads to. Where both arms, or one arm and the other edge, or both edges lead to
one block (a diamond, a triangle, nothing), the arms move before the branch and each argument that differs becomes a
select. Hammocks of several blocks are converted from the inside outwards. What must not run where it was not asked for
stays: memory, fences, divisions that can fault, unless the machine defers the fault (`speculation`). Shifts and
arithmetic with flags may be undefined, which a select that takes the other value does not use.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.analysis.effects import Externals, externals_by_name
from polyloom.ir.ssa import Block, Branch, Edge, Function, Instruction, Jump, Operand, Undef, Value
from polyloom.transform.ssa.function_editing import Editing, on_each_function, postorder, remove_unreachable
from polyloom.transform.ssa.speculation import NOTHING, Speculation, as_speculative, speculable

_LONG: Final = {
    **dict.fromkeys(("sdiv", "srem", "udiv", "urem", "fdiv", "sqrt"), 16),
    "mul": 3,
    **dict.fromkeys(("fadd", "fsub", "fmul"), 4),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost model of if-conversion, in times of an addition: a select, a branch with what its wrong predictions cost on
    average, and long operations by name (Muchnick 1997, section 18.9, on conditional moves).

    A branch is converted where both arms and the selects cost no more than the branch and half of the arms. The
    defaults are those of three instructions for a select, and of a branch that is wrong every fourth time at sixteen.
    """

    select: int = 3
    branch: int = 5
    operations: Mapping[str, int] = field(default_factory=lambda: _LONG)

    def operation_cost(self, instruction: Instruction) -> int:
        return self.operations.get(instruction.callee or instruction.operation, 1)


@on_each_function
def if_convert(
    function: Function, cost: Cost | None = None, keep: Collection[str] = (), speculation: Speculation = NOTHING
) -> Function:
    """If-conversion (Allen, Kennedy, Porterfield, Warren 1983) of hammocks: the function with selects; branches that
    end blocks of `keep` stay: other passes may order memory by them.
    """
    editing = Editing(remove_unreachable(function))
    converter = _Converter(editing, cost or Cost(), frozenset(keep), externals_by_name(function), speculation)
    # Inner branches before those around them: an arm must be one block when its branch is looked at.
    for name in postorder(converter.editing.source):
        while name in converter.editing.blocks and (converter.convert(name) or converter.merge(name)):
            pass
    return converter.editing.function()


@dataclass(frozen=True, slots=True)
class _Shape:
    """A branch that can be converted: its arms, and the edges by which control leaves them for the same block."""

    arms: tuple[Edge, ...]
    then: Edge
    orelse: Edge


@dataclass(slots=True)
class _Converter:
    """Mutable: `joined` are blocks to which a conversion has left one edge."""

    editing: Editing
    cost: Cost
    keep: frozenset[str]
    externals: Externals
    speculation: Speculation
    joined: set[str] = field(default_factory=set[str])

    def convert(self, name: str) -> bool:
        """Replaces the branch at the end of a block, where its shape and the cost allow."""
        block = self.editing.blocks[name]
        branch = block.terminator
        if (
            not isinstance(branch, Branch)
            or name in self.keep
            or (shape := self._shape(branch)) is None
            or not self._pays(shape)
        ):
            return False
        moved = [self._with_speculation(i) for arm in shape.arms for i in self.editing.bind(arm).instructions]
        selects, arguments = self._selects(branch, shape)
        self.editing.blocks[name] = replace(
            block,
            instructions=(*block.instructions, *moved, *selects),
            terminator=Jump(Edge(shape.then.block, arguments), branch.place),
        )
        self.editing.arrivals[shape.then.block] -= 1
        self.joined.add(shape.then.block)
        return True

    def _with_speculation(self, i: Instruction) -> Instruction:
        # Flags stay on what cannot fault: a select does not use what is undefined because of them.
        return i if speculable(i, self.externals) else as_speculative(i, self.externals)

    def merge(self, name: str) -> bool:
        """Appends what a conversion has left to the block alone: a hammock's inside becomes an arm."""
        end = self.editing.blocks[name].terminator
        return isinstance(end, Jump) and end.target.block in self.joined and self.editing.merge(name)

    def _shape(self, branch: Branch) -> _Shape | None:
        then, orelse = self._arm(branch.then), self._arm(branch.orelse)
        if then and orelse and then.target.block == orelse.target.block:
            return _Shape((branch.then, branch.orelse), then.target, orelse.target)
        if then and then.target.block == branch.orelse.block:
            return _Shape((branch.then,), then.target, branch.orelse)
        if orelse and orelse.target.block == branch.then.block:
            return _Shape((branch.orelse,), branch.then, orelse.target)
        # Both edges lead to one block: only arguments differ.
        return _Shape((), branch.then, branch.orelse) if branch.then.block == branch.orelse.block else None

    def _arm(self, edge: Edge) -> Jump | None:
        """How control leaves the block of an edge, where that is an arm."""
        block = self.editing.blocks[edge.block]
        # A block that others reach as well would have to be copied.
        alone = self.editing.arrivals[edge.block] == 1
        arm = alone and all(self.speculation.runs(i, self.externals) for i in block.instructions)
        return block.terminator if arm and isinstance(block.terminator, Jump) else None

    def _pays(self, shape: _Shape) -> bool:
        arms = sum(
            self.cost.operation_cost(i) for arm in shape.arms for i in self.editing.blocks[arm.block].instructions
        )
        bound = {
            # The arms are not bound yet: the cost is computed as if they were.
            p.name: a
            for arm in shape.arms
            for p, a in zip(self._block(arm).parameters, arm.arguments, strict=True)
        }
        pairs = [
            tuple(self._operand(a, bound) for a in pair)
            for pair in zip(shape.then.arguments, shape.orelse.arguments, strict=True)
        ]
        selects = sum(_differ(*pair) for pair in pairs)
        # Both arms run instead of one of them: arms + selects <= branch + arms / 2, times 2.
        return arms + 2 * self.cost.select * selects <= 2 * self.cost.branch

    def _block(self, edge: Edge) -> Block:
        return self.editing.blocks[edge.block]

    def _operand(self, operand: Operand, bound: Mapping[str, Operand]) -> Operand:
        found = self.editing.operand(operand)
        return self.editing.operand(bound[found.name]) if isinstance(found, Value) and found.name in bound else found

    def _selects(self, branch: Branch, shape: _Shape) -> tuple[list[Instruction], tuple[Operand, ...]]:
        """One for each parameter whose arguments differ; and the arguments that remain."""
        made: list[Instruction] = []
        arguments: list[Operand] = []
        parameters = self._block(shape.then).parameters
        for parameter, *pair in zip(parameters, shape.then.arguments, shape.orelse.arguments, strict=True):
            then, orelse = map(self.editing.operand, pair)
            if not _differ(then, orelse):
                # Any value will do for one that is undefined, so the other one.
                arguments.append(orelse if isinstance(then, Undef) else then)
                continue
            result = Value(self.editing.fresh(parameter.name), parameter.type)
            made.append(Instruction("select", (branch.condition, then, orelse), (result,), place=branch.place))
            arguments.append(result)
        return made, tuple(arguments)


def _differ(then: Operand, orelse: Operand) -> bool:
    """Whether two arguments need a select; one that is no particular value does not."""
    return then != orelse and not isinstance(then, Undef) and not isinstance(orelse, Undef)

# SPDX-License-Identifier: Apache-2.0
"""Rewriting of a function of `ir.ssa` instruction by instruction: an instruction may become several, and blocks.

What a rule writes is given to the rules again, so that a rule may use whatever another makes legal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from polyloom.ir.ssa import (
    NOWHERE,
    Access,
    Block,
    Branch,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Terminator,
    Value,
)
from polyloom.ir.ssa_types import Type
from polyloom.transform.ssa.function_editing import names


class Editor:
    """Rewriting cursor. Mutable: the blocks so far, and the one that is being written.

    `division` is the name of the routine that divides (legal_division.py).
    """

    def __init__(self, function: Function, rule: Callable[[Editor, Instruction], None], division: str = "") -> None:
        # Fresh names are unique in the function: rewritten code meets no name of the user.
        self.function, self.rule, self.fresh, self.division = function, rule, names(function), division
        self.blocks: list[Block] = []
        self.name, self.parameters, self.made, self.place = "", tuple[Value, ...](), list[Instruction](), NOWHERE

    def run(self, end: Callable[[Editor, Terminator], None]) -> Function:
        """The rewritten function: every instruction goes to the rule, every terminator to `end`, which closes the
        block.
        """
        for block in self.function.blocks:
            self.begin(block.name, block.parameters)
            for instruction in block.instructions:
                self.place = instruction.place
                self.rule(self, instruction)
            self.place = block.terminator.place
            end(self, block.terminator)
        return replace(self.function, blocks=tuple(self.blocks))

    @property
    def address(self) -> Type:
        """Integer type of distances and sizes: as wide as the pointers of the source."""
        return self.function.address

    def keep(self, instruction: Instruction) -> None:
        """Writes an instruction as it is."""
        self.made.append(instruction)

    def make(
        self,
        operation: str,
        type: Type,
        *operands: Operand,
        to: Value | None = None,
        callee: str = "",
        access: Access | None = None,
    ) -> Value:
        """Result of a new instruction, `to` where it is given. The instruction itself is legalized, too."""
        result = to or self.value(type)
        # New instructions go through the rule as well: what one rule makes may need another, and recursion ends at
        # legal ones.
        self.rule(self, Instruction(operation, operands, (result,), (), access, callee, self.place))
        return result

    def put(self, operation: str, *operands: Operand, access: Access | None = None, callee: str = "") -> None:
        """New instruction without a result, legalized like others."""
        self.rule(self, Instruction(operation, operands, (), (), access, callee, self.place))

    def value(self, type: Type) -> Value:
        return Value(self.fresh("legal"), type)

    def begin(self, name: str, parameters: Sequence[Value] = ()) -> None:
        self.name, self.parameters, self.made = name, tuple(parameters), []

    def end(self, terminator: Terminator) -> None:
        """Closes the block."""
        self.blocks.append(Block(self.name, self.parameters, tuple(self.made), terminator))

    def jump(self, block: str, *arguments: Operand) -> None:
        self.end(Jump(Edge(block, arguments), self.place))

    def branch(self, condition: Operand, then: Edge, orelse: Edge) -> None:
        self.end(Branch(condition, then, orelse, self.place))

    def repeat(
        self, first: Sequence[Operand], body: Callable[[Sequence[Value]], tuple[Operand, Sequence[Operand]]]
    ) -> Sequence[Value]:
        """Bottom-tested loop over variables that begin with `first`: `body` writes one iteration, and returns the
        condition to go on and the next values.

        The result is the variables behind the loop, whose body is executed at least once.
        """
        head, behind = self.fresh("again"), self.fresh("behind")
        self.jump(head, *first)
        variables = [self.value(operand.type) for operand in first]
        self.begin(head, variables)
        condition, following = body(variables)
        # Block parameters of their own: values of the loop body would not dominate uses by other ways.
        left = [self.value(operand.type) for operand in first]
        self.branch(condition, Edge(head, tuple(following)), Edge(behind, tuple(following)))
        self.begin(behind, left)
        return left

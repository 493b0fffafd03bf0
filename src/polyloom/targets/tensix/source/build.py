# SPDX-License-Identifier: Apache-2.0
"""A builder of vector kernels: calls of the table's operations and scalar instructions, block after block.

    b = Builder("double", (("n", I32),))
    x = b.call("load", 0, 3, 0)
    b.call("store", b.call("sfpadd", x, x, 0), 0, 3, 0)
    kernel = b.finish()

Numbers among operands are constants of 32 bits. A block ends where the next one begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from polyloom.ir.ssa import (
    COMPARISONS,
    NOWHERE,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Place,
    Return,
    Terminator,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_types import I1, I32, Type
from polyloom.targets.tensix.source.operations import PREFIX, operations
from polyloom.targets.tensix.source.verify import declare_operations

Given = Operand | int


@dataclass(slots=True)
class Builder:
    """Builder of a kernel in SSA form. Mutable. `place` is that of what comes next."""

    name: str
    given: tuple[tuple[str, Type], ...] = ()
    place: Place = NOWHERE
    parameters: tuple[Value, ...] = field(init=False)
    blocks: list[Block] = field(default_factory=list[Block])
    code: list[Instruction] = field(default_factory=list[Instruction])
    label: str = "entry"
    entry: tuple[Value, ...] = ()
    made: int = 0
    begins: Place = NOWHERE

    def __post_init__(self) -> None:
        self.parameters = self.entry = tuple(Value(name, type) for name, type in self.given)
        self.begins = self.place

    def fresh(self, type: Type, name: str = "") -> Value:
        self.made += 1
        return Value(f"{name or 'v'}.{self.made}", type)

    def several(self, name: str, *operands: Given) -> tuple[Value, ...]:
        """Call of an operation of the table, with all its results."""
        row = operations()[name]
        results = tuple(self.fresh(type) for type in row.external.results)
        self._add(Instruction("call", _operands(operands), results, callee=f"@{PREFIX}{name}", place=self.place))
        return results

    def call(self, name: str, *operands: Given) -> Value:
        """Call of an operation with one result."""
        (result,) = self.several(name, *operands)
        return result

    def effect(self, name: str, *operands: Given) -> None:
        """Call of an operation without results."""
        assert not self.several(name, *operands)

    def scalar(self, operation: str, *operands: Given) -> Value:
        """Scalar instruction on integers of 32 bits, or a comparison of them."""
        result = self.fresh(I1 if operation in COMPARISONS else I32)
        self._add(Instruction(operation, _operands(operands), (result,), place=self.place))
        return result

    def _add(self, instruction: Instruction) -> None:
        self.code.append(instruction)

    def block(self, name: str, parameters: Sequence[Value] = ()) -> None:
        """Beginning of a block; the one before must have ended."""
        assert not self.label, f"{self.label} has no end"
        self.label, self.parameters = name, tuple(parameters)

    def end(self, terminator: Terminator) -> None:
        self.blocks.append(Block(self.label, self.parameters, tuple(self.code), terminator))
        self.label, self.code = "", []

    def jump(self, block: str, *arguments: Operand) -> None:
        self.end(Jump(Edge(block, arguments), self.place))

    def branch(self, condition: Operand, then: Edge, orelse: Edge) -> None:
        self.end(Branch(condition, then, orelse, self.place))

    def finish(self) -> Function:
        """Function, which returns at the end of the last block."""
        if self.label:
            self.end(Return(None, self.place))
        function = Function(self.name, None, tuple(self.blocks), pointers=32, place=self.begins)
        return declare_operations(function)


def _operands(given: Sequence[Given]) -> tuple[Operand, ...]:
    return tuple(integer_constant(I32, operand) if isinstance(operand, int) else operand for operand in given)


def constant(value: int) -> Constant:
    return integer_constant(I32, value)

# SPDX-License-Identifier: Apache-2.0
"""Builder of a function of `ir.ssa`: blocks while they are written, with constants folded (Muchnick 1997, section
12.1).

A block has a prologue, which stands before its other instructions: what is computed once there, for all blocks that it
dominates, may be added as long as the function is written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Final

from polyloom.ir.ssa import (
    ARITHMETIC,
    COMPARISONS,
    NOWHERE,
    Access,
    Block,
    Constant,
    Edge,
    Instruction,
    Operand,
    Place,
    Terminator,
    Unreachable,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_semantics import Undefined, arithmetic, compare, convert_value
from polyloom.ir.ssa_types import I1, INTEGERS, PTR, Type

# Only for operations that are exact on integers; float identities would lose a sign of zero or a NaN.
_NEUTRAL_RIGHT: Final = {"add": 0, "sub": 0, "mul": 1, "shl": 0, "lshr": 0, "ashr": 0, "or": 0, "xor": 0, "sdiv": 1}
"""The right operand that leaves the left one as it is."""
_COMMUTES: Final = ("add", "mul", "and", "or", "xor")
_CASTS: Final = ("trunc", "zext", "sext")


@dataclass(slots=True)
class Draft:
    """Block that grows (mutable)."""

    name: str
    parameters: tuple[Value, ...] = ()
    # Apart from the instructions, so that it can grow while blocks behind are already written.
    prologue: list[Instruction] = field(default_factory=list[Instruction])
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    terminator: Terminator = field(default_factory=Unreachable)

    @property
    def block(self) -> Block:
        return Block(self.name, self.parameters, (*self.prologue, *self.instructions), self.terminator)


class Writer:
    """Builder that writes at the end of the current block (mutable). Names have dots, which no source can have in
    one.
    """

    def __init__(self, entry: str, parameters: tuple[Value, ...]) -> None:
        self.numbers = count(1)
        self.current = Draft(entry, parameters)
        # Where instructions go: usually the current block, for a moment some block's prologue.
        self.target = self.current.instructions
        self.drafts = [self.current]
        self.place: Place = NOWHERE

    def fresh(self, name: str) -> str:
        """A name that nothing has."""
        return f"{name}.{next(self.numbers)}"

    def begin(self, name: str, *parameters: Value) -> Draft:
        """New block, which becomes the current one."""
        self.current = Draft(name, parameters)
        self.target = self.current.instructions
        self.drafts.append(self.current)
        return self.current

    def end(self, terminator: Terminator) -> None:
        self.current.terminator = terminator

    def blocks(self) -> tuple[Block, ...]:
        return tuple([draft.block for draft in self.drafts])

    def put(self, operation: str, type: Type, *operands: Operand, callee: str = "", name: str = "t") -> Operand:
        """Result of an operation, which may be known already."""
        known = fold_constants(operation, type, operands)
        return known if known is not None else self.emit(operation, type, *operands, callee=callee, name=name)

    def emit(
        self,
        operation: str,
        type: Type,
        *operands: Operand,
        callee: str = "",
        access: Access | None = None,
        name: str = "t",
    ) -> Value:
        """Result of a new instruction."""
        result = Value(self.fresh(name), type)
        self.target.append(Instruction(operation, operands, (result,), access=access, callee=callee, place=self.place))
        return result

    def call(self, intrinsic: str, type: Type, *operands: Operand) -> Operand:
        return self.put("call", type, *operands, callee=intrinsic)

    def store(self, value: Operand, address: Operand, access: Access) -> None:
        self.target.append(Instruction("store", (value, address), access=access, place=self.place))

    def compare(self, relation: str, a: Operand, b: Operand) -> Operand:
        # A comparison of constants folds, and with it the guard of a loop of known length.
        return self.put(relation, I1, a, b)

    def select(self, condition: Operand, a: Operand, b: Operand) -> Operand:
        return self.put("select", a.type, condition, a, b)

    def times(self, value: Operand, factor: int) -> Operand:
        """Product of an integer and a constant."""
        # Later passes fold a shift into addressing; a multiplication they would have to recognize.
        if factor > 0 and factor & (factor - 1) == 0:
            return self.put("shl", value.type, value, integer_constant(value.type, factor.bit_length() - 1))
        return self.put("mul", value.type, value, integer_constant(value.type, factor))

    def offset(self, pointer: Operand, distance: Operand) -> Operand:
        return self.put("offset", PTR, pointer, distance, name="at")

    def jump(self, block: str, *arguments: Operand) -> Edge:
        return Edge(block, arguments)


def fold_constants(operation: str, type: Type, operands: tuple[Operand, ...]) -> Operand | None:
    """Constant folding and algebraic simplification: the result of an operation on integers where it is a constant or
    an operand (Muchnick 1997, sections 12.1 and 12.3).
    """
    match operation, operands:
        case "select", (Constant(value=chosen), a, b):
            return a if chosen else b
        case "select", (_, a, b) if a == b:
            return a
        # The first element of an array is at its address.
        case "offset", (pointer, Constant(value=0)):
            return pointer
        case _, (Constant() as a, Constant() as b) if operation in (*ARITHMETIC, *COMPARISONS):
            return _evaluate_constants(operation, type, a, b)
        case _, (Constant() as a,) if operation in _CASTS:
            return integer_constant(type, int(convert_value(operation, a.type, type, a.value)))
        case _, (a, Constant() as b) if operation in ARITHMETIC:
            return _simplify_identity(operation, a, b)
        # One table of right operands serves both sides.
        case _, (Constant() as a, b) if operation in _COMMUTES:
            return _simplify_identity(operation, b, a)
        case _:
            return None


def _evaluate_constants(operation: str, type: Type, a: Constant, b: Constant) -> Operand | None:
    """Constant of an operation on constants; None where the semantics leaves it undefined, which stays for the run to
    report.
    """
    if a.type not in INTEGERS:
        return None
    try:
        if operation in COMPARISONS:
            return Constant(I1, compare(operation, a.type, a.value, b.value))
        return Constant(type, arithmetic(operation, type, a.value, b.value))
    except Undefined:
        return None


def _simplify_identity(operation: str, a: Operand, b: Constant) -> Operand | None:
    """Algebraic identity with a constant: x + 0, x * 1, x * 0, x & -1."""
    if b.value == _NEUTRAL_RIGHT.get(operation):
        return a
    if operation in ("mul", "and") and b.value == 0:
        return b
    return a if operation == "and" and b == integer_constant(b.type, -1) else None

# SPDX-License-Identifier: Apache-2.0
"""Random functions over variables in memory, structured or with any jumps, that always end: jumps backwards take fuel.

Every store stores a value of its own, so that no parameter that construction makes is trivial.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from polyloom.ir.ssa import (
    Access,
    Block,
    Branch,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Return,
    Switch,
    Terminator,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_types import I1, I32, I64, PTR

WORD = Access(4)
NAMES = ("a", "b", "c", "fuel")


@dataclass(slots=True)
class Maker:
    """Mutable: the instructions of a block."""

    number: int = 0
    made: list[Instruction] = field(default_factory=list[Instruction])

    def emit(self, operation: str, *operands: Operand, access: Access | None = None) -> Value:
        self.number += 1
        result = Value(f"t{self.number}", I1 if operation == "sgt" else PTR if operation == "alloca" else I32)
        self.made.append(Instruction(operation, operands, (result,), access=access))
        return result

    def load(self, name: str) -> Value:
        return self.emit("load", Value(name, PTR), access=WORD)

    def store(self, operand: Operand, name: str) -> None:
        self.made.append(Instruction("store", (operand, Value(name, PTR)), access=WORD))

    def update(self, operation: str, target: str, a: str, b: str | int) -> None:
        self.store(
            self.emit(operation, self.load(a), integer_constant(I32, b) if isinstance(b, int) else self.load(b)), target
        )

    def taken(self) -> tuple[Instruction, ...]:
        made, self.made = self.made, []
        return tuple(made)


@st.composite
def functions(draw: st.DrawFn, reducible: bool = False) -> Function:
    """A function of %n: i32. With `reducible`, jumps backwards go only to blocks that dominate, those of an open
    loop."""
    maker, size = Maker(), draw(st.integers(2, 9))
    for name in NAMES:
        maker.made.append(Instruction("alloca", (integer_constant(I64, 4),), (Value(name, PTR),), access=WORD))
    for name in NAMES[: draw(st.integers(1, 3))]:  # the others begin undefined
        maker.store(maker.emit("add", Value("n", I32), integer_constant(I32, draw(st.integers(-9, 9)))), name)
    maker.store(maker.emit("add", integer_constant(I32, 12), integer_constant(I32, 0)), "fuel")
    blocks = [Block("entry", (Value("n", I32),), maker.taken(), Jump(Edge("b0")))]
    for k in range(size):
        for _ in range(draw(st.integers(0, 3))):
            target, a = draw(st.sampled_from(NAMES[:3])), draw(st.sampled_from(NAMES[:3]))
            maker.update(
                draw(st.sampled_from(("add", "sub", "xor", "mul"))),
                target,
                a,
                draw(st.one_of(st.sampled_from(NAMES[:3]), st.integers(-4, 4))),
            )
        blocks.append(_ended(draw, maker, k, size, reducible))
    results = [maker.load(name) for name in draw(st.sets(st.sampled_from(NAMES), min_size=1).map(sorted))]
    total = results[0]
    for result in results[1:]:
        total = maker.emit("xor", total, result)
    return Function("f", I32, (*blocks, Block(f"b{size}", (), maker.taken(), Return(total))))


def _ended(draw: st.DrawFn, maker: Maker, k: int, size: int, reducible: bool) -> Block:
    after = st.integers(k + 1, size)
    back = 0 if reducible else draw(st.integers(0, k))  # block 0 dominates all others
    ahead = [Edge(f"b{draw(after)}") for _ in range(draw(st.integers(1, 3)))]
    if draw(st.booleans()):
        maker.update("sub", "fuel", "fuel", 1)
        more = maker.emit("sgt", maker.load("fuel"), integer_constant(I32, 0))
        return Block(f"b{k}", (), maker.taken(), Branch(more, Edge(f"b{back}"), ahead[0]))
    terminator: Terminator = Jump(ahead[0])
    if len(ahead) > 1:
        low = maker.emit("and", maker.load("a"), integer_constant(I32, 3))
        terminator = Switch(low, ahead[0], tuple(enumerate(ahead[1:])))
    return Block(f"b{k}", (), maker.taken(), terminator)

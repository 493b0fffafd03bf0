# SPDX-License-Identifier: Apache-2.0
"""Random vector kernels in SSA form, and states to run them on: all operations, nested conditions, scalar branches and
loops, values of run time.

    @given(kernels())                       # or kernels(member="blackhole", variables=3)
    def test(kernel): interpret(kernel, ARGUMENTS, state(0))

`kernel(random, ...)` makes one of a `random.Random`. At most `variables` values live at once, beside those of one
expression; each is stored at the end. Two arguments of 32 bits are known only at run time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np
from hypothesis import strategies as st
from tests.targets.tensix.vector.words import SPECIAL, patterns

from polyloom.ir.ssa import Edge, Function, Operand, Place, Value
from polyloom.ir.ssa_types import I32
from polyloom.targets.tensix.source.build import Builder, constant
from polyloom.targets.tensix.source.operations import VECTOR, Operation, operations
from polyloom.targets.tensix.source.oracle.state import State, Vector
from polyloom.targets.tensix.words.isa import Member

ARGUMENTS = (3, -5)
"""What the two arguments can be, for instance."""
INCREMENT = 0x38000000
"""INCRWC, without its Dst amount, which stands in bits 17:14."""
_VALUES = frozenset({"floats", "fields", "integers", "conversions", "tables", "lanes"})
_WIDE = frozenset({"sfptransp", "sfplutfp32_6r"})
"""What needs more registers than kernels with many variables have."""
_FLOATS = (0x3F800000, 0xBF800000, 0, 0x40490FDB, 0x3FC00000, 0x3F2A0000, 0x80000000, 0x7F800000, 0x42FE0000)


@dataclass(slots=True)
class _Maker:
    """Mutable: the builder, the variables, and how many more statements may come."""

    random: Random
    builder: Builder
    member: Member
    names: tuple[str, ...] | None
    left: int
    moves: bool = True
    variables: list[Operand] = field(default_factory=list[Operand])
    scalars: list[Operand] = field(default_factory=list[Operand])
    labels: int = 0
    line: int = 0

    def label(self, word: str) -> str:
        self.labels += 1
        return f"{word}.{self.labels}"

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def scalar(self) -> Operand:
        """A constant, mostly, or one of run time."""
        if self.scalars and self.chance(25):
            return self.random.choice(self.scalars)
        small = self.random.randrange(-40, 40)
        return constant(self.random.choice((small, small, int(self.random.choice(SPECIAL)))))

    def vector(self) -> Operand:
        """A variable, mostly, or a constant."""
        if not self.chance(25):
            return self.random.choice(self.variables)
        kind = self.random.randrange(3)
        if kind == 0:
            return self.builder.call("config_read", self.random.randrange(8, 16))
        if kind == 1:
            return self.builder.call("splat", self.random.choice(_FLOATS))
        return self.builder.call("splat", self.scalar())

    def operation(self) -> Operation:
        rows = [row for row in operations().values() if self.usable(row)]
        return self.random.choice(rows)

    def usable(self, row: Operation) -> bool:
        if self.names is not None:
            return row.name in self.names
        fits = len(self.variables) <= 3 or row.name not in _WIDE
        return row.group in _VALUES and fits and (self.member == "blackhole" or not row.only_blackhole)

    def operands(self, row: Operation) -> list[Operand]:
        found: list[Operand] = []
        for operand in row.operands:
            if operand.kind == "immediate":
                found.append(constant(self.random.choice(operand.allowed(self.member))))
            else:
                found.append(self.vector() if operand.is_vector else self.scalar())
        return found

    def expression(self) -> tuple[Value, ...]:
        """Sums of products are frequent, since they contract."""
        b = self.builder
        if self.names is None and self.chance(35):
            product = b.call("sfpmul", self.vector(), self.vector(), 0)
            if self.chance(20):
                product = b.call("sfpmov", product, 1)
            other = self.random.choice(self.variables)
            pair = (product, other) if self.chance(50) else (other, product)
            return (b.call("sfpsub", *pair) if self.chance(40) else b.call("sfpadd", *pair, 0),)
        row = self.operation()
        return b.several(row.name, *self.operands(row))

    def mask(self, depth: int = 2) -> Operand:
        b = self.builder
        if depth and self.chance(35):
            kind = self.random.choice(("mask_and", "mask_or", "mask_not"))
            return b.call(kind, *(self.mask(depth - 1) for _ in range(1 if kind == "mask_not" else 2)))
        if self.chance(10):
            return b.call("mask_of", self.random.choice(self.variables))
        kind, condition = self.random.choice(("cmp_f", "cmp_f", "cmp_i", "cmp_u")), self.random.randrange(6)
        other = b.call("splat", 0) if self.chance(30) else self.vector()
        return b.call(kind, condition, self.random.choice(self.variables), other)

    def address(self) -> Operand:
        """Even, of the first 32 rows; not those that the variables are stored to."""
        if self.scalars and self.chance(20):
            return self.builder.scalar("and", self.random.choice(self.scalars), constant(30))
        return constant(2 * self.random.randrange(16))

    def block(self, depth: int, loop: tuple[str, int] | None, frames: int) -> None:
        for _ in range(self.random.randrange(1, 5)):
            self.statement(depth, loop, frames)

    def statement(self, depth: int, loop: tuple[str, int] | None, frames: int) -> None:
        """`loop` is the block after the innermost loop and the frames there; `frames` are those open here."""
        self.left -= 1
        self.line += 1
        self.builder.place = Place("kernel.h", self.line, 1)
        kinds = ["assign"] * 6 + ["store", "load", "word" if self.moves else "assign", "int_of", "config"]
        if depth and self.left > 0:
            kinds += ["v_if"] * 3 + ["v_block", "if", "for"]
        if loop is not None:
            kinds.append("leave")
        kind = self.random.choice(kinds)
        if kind == "v_if":
            self.v_if(depth, loop, frames)
        elif kind == "v_block":
            self.v_block(depth, loop, frames)
        elif kind == "if":
            self.scalar_if(depth, loop, frames)
        elif kind == "for":
            self.loop(depth, frames)
        elif kind == "leave" and loop is not None:
            self.leave(loop, frames)
        else:
            self.simple(kind)

    def simple(self, kind: str) -> None:
        b = self.builder
        match kind:
            case "store":
                b.effect("store", self.vector(), self.random.randrange(16), 3, self.address())
            case "load":
                self.put(b.call("load", self.random.randrange(14), 3, self.address()))
            case "int_of":
                self.put(b.call("int_of", self.mask()))
            case "config":
                b.effect("config_write", self.random.randrange(12, 15), self.vector())
            case "word":
                amount: Operand = constant(2 * self.random.randrange(3))
                if self.scalars and self.chance(40):
                    amount = b.scalar("and", self.random.choice(self.scalars), constant(6))
                b.effect("word", b.scalar("or", b.scalar("shl", amount, constant(14)), constant(INCREMENT)))
            case _:
                self.put(*self.expression())

    def put(self, *values: Value) -> None:
        """Assigns to variables, or defines them anew."""
        targets = self.random.sample(range(len(self.variables)), min(len(values), len(self.variables)))
        for k, value in zip(targets, values, strict=False):
            if self.chance(75):
                self.variables[k] = self.builder.call("assign", self.variables[k], value)
            else:
                self.variables[k] = value

    def v_if(self, depth: int, loop: tuple[str, int] | None, frames: int) -> None:
        b = self.builder
        b.effect("push")
        b.effect("cond", self.mask())
        self.block(depth - 1, loop, frames + 1)
        while self.chance(30):
            b.effect("else_")
            b.effect("cond", self.mask())
            self.block(depth - 1, loop, frames + 1)
        if self.chance(50):
            b.effect("else_")
            self.block(depth - 1, loop, frames + 1)
        b.effect("pop")

    def v_block(self, depth: int, loop: tuple[str, int] | None, frames: int) -> None:
        b = self.builder
        b.effect("push")
        for _ in range(self.random.randrange(1, 3)):
            self.block(depth - 1, loop, frames + 1)
            b.effect("and_", self.mask(1))
        self.block(depth - 1, loop, frames + 1)
        b.effect("pop")

    def condition(self) -> Value:
        left = self.random.choice(self.scalars) if self.scalars else constant(self.random.randrange(4))
        return self.builder.scalar(
            self.random.choice(("slt", "ne", "uge")), left, constant(self.random.randrange(-2, 4))
        )

    def merged(self) -> list[Value]:
        """Parameters for the variables, of which a block begins."""
        return [self.builder.fresh(VECTOR, "m") for _ in self.variables]

    def scalar_if(self, depth: int, loop: tuple[str, int] | None, frames: int) -> None:
        b, before = self.builder, list(self.variables)
        then, orelse, after = self.label("then"), self.label("else"), self.label("after")
        b.branch(self.condition(), Edge(then), Edge(orelse))
        b.block(then)
        self.block(depth - 1, loop, frames)
        b.jump(after, *self.variables)
        b.block(orelse)
        self.variables = before
        if self.chance(50):
            self.block(depth - 1, loop, frames)
        b.jump(after, *self.variables)
        merged = self.merged()
        b.block(after, merged)
        self.variables = list(merged)

    def loop(self, depth: int, frames: int) -> None:
        """One to three times; all variables go around."""
        b = self.builder
        head, body, after = self.label("head"), self.label("body"), self.label("after")
        times = self.random.randrange(1, 4)
        b.jump(head, constant(0), *self.variables)
        counter, values = b.fresh(I32, "i"), self.merged()
        b.block(head, [counter, *values])
        self.variables = list(values)
        b.branch(b.scalar("slt", counter, constant(times)), Edge(body), Edge(after, tuple(values)))
        b.block(body)
        self.scalars.append(counter)
        self.block(depth - 1, (after, frames), frames)
        self.scalars.remove(counter)
        b.jump(head, b.scalar("add", counter, constant(1)), *self.variables)
        merged = self.merged()
        b.block(after, merged)
        self.variables = list(merged)

    def leave(self, loop: tuple[str, int], frames: int) -> None:
        """A `break`, which pops what it leaves."""
        b, (after, outside) = self.builder, loop
        out, on = self.label("out"), self.label("on")
        b.branch(self.condition(), Edge(out), Edge(on))
        b.block(out)
        for _ in range(frames - outside):
            b.effect("pop")
        b.jump(after, *self.variables)
        b.block(on)


def kernel(
    random: Random,
    member: Member = "wormhole",
    *,
    variables: int = 3,
    statements: int = 14,
    depth: int = 3,
    names: tuple[str, ...] | None = None,
    control: bool = True,
    registers: bool = True,
    moves: bool = True,
) -> Function:
    """A function of two integers. `names` restricts what is computed to these operations; without `control` there are
    neither scalar branches nor run-time values; with `registers` one of L0 to L7 may be read and one written. Without
    `moves` the counter of Dst stays where it is. Up to 40 variables are meant, most of which then live elsewhere."""
    builder = Builder("kernel", (("n", I32), ("k", I32)), Place("kernel.h", 1, 1))
    made = _Maker(random, builder, member, names, statements, moves)
    if control:
        made.scalars = list(builder.entry)
    pinned = random.randrange(8) if registers and made.chance(30) else None
    if pinned is not None:
        made.variables.append(builder.call("lreg_read", pinned))
    while len(made.variables) < variables:
        fresh = made.chance(15)
        made.variables.append(
            builder.call("undefined") if fresh else builder.call("load", 3, 3, 2 * len(made.variables))
        )
    while made.left > 0:
        made.statement(depth if control else 0, None, 0)
        if not control and made.left > 0 and made.chance(40):
            _flat_if(made)
    builder.place = Place("kernel.h", made.line + 1, 1)
    for k, variable in enumerate(made.variables):
        builder.effect("store", variable, 3, 3, 64 + 2 * k)
    if registers and made.chance(30):
        builder.effect("lreg_write", random.randrange(8), made.variables[0])
    return builder.finish()


def _flat_if(made: _Maker) -> None:
    """Conditions without scalar control flow in them."""
    made.builder.effect("push")
    made.builder.effect("cond", made.mask())
    made.simple("assign")
    if made.chance(50):
        made.builder.effect("else_")
        made.simple("assign")
    made.builder.effect("pop")


@st.composite
def kernels(draw: st.DrawFn, member: Member = "wormhole", variables: int = 3, statements: int = 14) -> Function:
    return kernel(draw(st.randoms(use_true_random=False)), member, variables=variables, statements=statements)


def state(seed: int, member: Member = "wormhole", tiles: int = 1) -> State:
    """Random contents of Dst, of registers and of the generators; the format of Dst is FP32."""
    random = np.random.default_rng(seed)
    made = State(member, tiles, "fp32")
    made.dst.bits[:] = random.integers(0, 1 << 16, made.dst.bits.shape, np.uint16)
    for k in range(8):
        made.registers[k] = Vector(patterns(random, (tiles, 32)))
    made.random = random.integers(1, 1 << 32, (tiles, 32), np.uint32)
    return made

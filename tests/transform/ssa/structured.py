# SPDX-License-Identifier: Apache-2.0
"""Random structured functions of %n and the array %p: nested conditionals and counted loops over variables in memory,
whose bodies compute, divide (by what may be zero only where a condition excludes it), load and store."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from polyloom.ir.ssa import Function
from polyloom.ir.ssa_read import read
from polyloom.transform.ssa.construct import construct

VARIABLES = ("a", "b", "c")
SIZE = 8
"""Words of the array."""


@dataclass(slots=True)
class _Text:
    draw: st.DrawFn
    lines: list[str] = field(default_factory=list[str])
    number: int = 0

    def new(self, text: str, type: str = "i32") -> str:
        """A value that the text computes."""
        self.number += 1
        self.lines.append(f"%t{self.number}: {type} = {text}")
        return f"%t{self.number}"

    def label(self) -> str:
        self.number += 1
        return f"b{self.number}"

    def load(self) -> str:
        return self.new(f"load %{self.draw(st.sampled_from(VARIABLES))} align 4")

    def operand(self) -> str:
        return self.load() if self.draw(st.booleans()) else f"{self.draw(st.integers(-3, 9))}:i32"

    def store(self, value: str) -> None:
        self.lines.append(f"store {value}, %{self.draw(st.sampled_from(VARIABLES))} align 4")

    def element(self) -> str:
        index = self.new(f"shl {self.new(f'and {self.load()}, {SIZE - 1}:i32')}, 2:i32")
        return self.new(f"offset %p, {self.new(f'zext {index}', 'i64')}", "ptr")

    def statements(self, depth: int) -> None:
        kinds = (
            "compute",
            "compute",
            "compute",
            "guarded",
            "constant",
            "load",
            "store",
            *(("if", "if-else", "loop") if depth else ()),
        )
        for _ in range(self.draw(st.integers(1, 3))):
            self.statement(self.draw(st.sampled_from(kinds)), depth)

    def statement(self, kind: str, depth: int) -> None:
        match kind:
            case "compute":
                operation = self.draw(st.sampled_from(("add", "sub nsw", "mul", "xor", "shl", "ashr", "call smax")))
                self.store(self.new(f"{operation} {self.load()}, {self.operand()}"))
            case "guarded":
                divisor = self.load()
                self.branch(
                    self.new(f"sgt {divisor}, 0:i32", "i1"),
                    lambda: self.store(self.new(f"sdiv {self.load()}, {divisor}")),
                )
            case "constant":
                self.store(
                    self.new(
                        f"{self.draw(st.sampled_from(('sdiv', 'urem')))} {self.load()}, "
                        f"{self.draw(st.integers(1, 9))}:i32"
                    )
                )
            case "load":
                self.store(
                    self.new(
                        f"load {self.element()} align 4{self.draw(st.sampled_from(('', ' volatile', ' monotonic')))}"
                    )
                )
            case "store":
                self.lines.append(f"store {self.load()}, {self.element()} align 4")
            case "loop":
                self.loop(depth)
            case _:
                condition = self.new(
                    f"{self.draw(st.sampled_from(('slt', 'eq', 'uge')))} {self.load()}, {self.operand()}", "i1"
                )
                orelse = (lambda: self.statements(depth - 1)) if kind == "if-else" else None
                self.branch(condition, lambda: self.statements(depth - 1), orelse)

    def branch(self, condition: str, then: object, orelse: object = None) -> None:
        one, two, after = self.label(), self.label(), self.label()
        self.lines.append(f"branch {condition}, {one}, {two if orelse else after}")
        for label, body in ((one, then), *(((two, orelse),) if orelse else ())):
            self.lines.append(f"{label}:")
            assert callable(body)
            body()
            self.lines.append(f"jump {after}")
        self.lines.append(f"{after}:")

    def loop(self, depth: int) -> None:
        head, after = self.label(), self.label()
        self.lines += ["store 3:i32, %i align 4", f"jump {head}", f"{head}:"]
        self.statements(depth - 1)
        left = self.new(f"sub {self.new('load %i align 4')}, 1:i32")
        self.lines += [
            f"store {left}, %i align 4",
            f"branch {self.new(f'sgt {left}, 0:i32', 'i1')}, {head}, {after}",
            f"{after}:",
        ]


@st.composite
def structured(draw: st.DrawFn, depth: int = 3) -> Function:
    """A function in SSA form; a nested loop begins the counter of the loops around it anew, from what is left of it."""
    text = _Text(draw)
    for name in (*VARIABLES, "i"):
        text.lines.append(f"%{name}: ptr = alloca 4:i64 align 4")
    for number, name in enumerate(VARIABLES):
        text.lines.append(f"store {text.new(f'add %n, {number}:i32')}, %{name} align 4")
    text.statements(depth)
    result = text.new(f"xor {text.load()}, {text.load()}")
    body = "\n".join(text.lines)
    return construct(read(f"function f(%n: i32, %p: ptr) -> i32 {{\nentry:\n{body}\nreturn {result}\n}}\n"))

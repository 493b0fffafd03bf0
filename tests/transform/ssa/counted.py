# SPDX-License-Identifier: Apache-2.0
"""Random nests of counted loops over two arrays, as clang writes them without optimization: tests in headers, counters
of 32 bits that are extended for each address, variables in memory.

Bounds are constants, %n or a counter of a loop around; steps go up and down. Addresses are affine in the counters, so
that accesses of one iteration and of the next meet; some loops are left early. Both arrays have `SIZE` words; %q is
`restrict`, and %r is %p or an array of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

from polyloom.ir.ssa import Function
from polyloom.ir.ssa_read import read
from polyloom.transform.ssa.construct import construct

SIZE = 96
MIDDLE = 48
"""The element to which index 0 refers: indices are from -40 to 40."""
VARIABLES = ("a", "b")
OWN = 3
"""Elements of an array of the function's own, which is accessed at constant places."""


@dataclass(slots=True)
class _Text:
    draw: st.DrawFn
    lines: list[str] = field(default_factory=list[str])
    counters: list[str] = field(default_factory=list[str])
    allocas: list[str] = field(default_factory=list[str])
    number: int = 0

    def new(self, text: str, type: str = "i32") -> str:
        self.number += 1
        self.lines.append(f"%t{self.number}: {type} = {text}")
        return f"%t{self.number}"

    def label(self) -> str:
        self.number += 1
        return f"l{self.number}"

    def pick(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def load(self, variable: str) -> str:
        return self.new(f"load %{variable} align 4")

    def index(self) -> str:
        """A counter and a constant, a multiple of one, or a constant."""
        constant = self.draw(st.integers(-2, 2))
        if not self.counters or not self.draw(st.integers(0, 3)):
            return f"{constant}:i32"
        counter = self.load(self.draw(st.sampled_from(self.counters)))
        if not self.draw(st.integers(0, 3)):
            counter = self.new(f"mul {counter}, 2:i32")
        return self.new(f"add {counter}, {constant}:i32") if constant else counter

    def element(self) -> str:
        if not self.draw(st.integers(0, 5)):
            return self.new(f"offset %own, {4 * self.draw(st.integers(0, OWN - 1))}:i64", "ptr")
        wide = self.new(f"sext {self.index()}", "i64")
        byte = self.new(f"shl {wide}, 2:i64", "i64")
        return self.new(f"offset {self.pick('%p.mid', '%q.mid', '%r.mid')}, {byte}", "ptr")

    def value(self) -> str:
        kinds = ("variable", "element", "element", "constant", *(("counter",) if self.counters else ()))
        match self.pick(*kinds):
            case "variable":
                return self.load(self.pick(*VARIABLES))
            case "element":
                return self.new(f"load {self.element()} align 4")
            case "counter":
                return self.load(self.draw(st.sampled_from(self.counters)))
            case _:
                return f"{self.draw(st.integers(-4, 9))}:i32"

    def statements(self, depth: int) -> None:
        for _ in range(self.draw(st.integers(1, 3))):
            match self.pick("assign", "store", "update", "if", *(("loop", "loop") if depth else ("store",))):
                case "assign":
                    result = self.new(f"{self.pick('add', 'sub', 'xor', 'mul')} {self.value()}, {self.value()}")
                    self.lines.append(f"store {result}, %{self.pick(*VARIABLES)} align 4")
                case "store":
                    value = self.value()
                    self.lines.append(f"store {value}, {self.element()} align 4")
                case "update":
                    place = self.element()
                    result = self.new(f"add {self.new(f'load {place} align 4')}, {self.value()}")
                    self.lines.append(f"store {result}, {place} align 4")
                case "if":
                    self.branch(lambda: self.statements(0))
                case _:
                    self.loop(depth)

    def branch(self, then: Callable[[], None]) -> None:
        one, after = self.label(), self.label()
        test = self.new(f"{self.pick('slt', 'eq', 'sge')} {self.value()}, {self.value()}", "i1")
        self.lines += [f"branch {test}, {one}, {after}", f"{one}:"]
        then()
        self.lines += [f"jump {after}", f"{after}:"]

    def loop(self, depth: int) -> None:
        self.number += 1
        counter = f"i{self.number}"
        head, body, after = self.label(), self.label(), self.label()
        step = self.draw(st.sampled_from((1, 1, 1, 2, -1, -3)))
        begin = f"{self.draw(st.integers(-3, 3))}:i32"
        bound = f"{self.draw(st.integers(-2, 7))}:i32"
        if self.counters and self.draw(st.booleans()):
            begin = self.load(self.draw(st.sampled_from(self.counters)))
        elif self.draw(st.booleans()):
            bound = "%n"
        begin, bound = (begin, bound) if step > 0 else (bound, begin)
        relation = self.pick("slt", "sle") if step > 0 else self.pick("sgt", "sge")
        self.allocas.append(f"%{counter}: ptr = alloca 4:i64 align 4")
        self.lines += [f"store {begin}, %{counter} align 4", f"jump {head}", f"{head}:"]
        test = self.new(f"{relation} {self.load(counter)}, {bound}", "i1")
        self.lines += [f"branch {test}, {body}, {after}", f"{body}:"]
        self.counters.append(counter)
        self.statements(depth - 1)
        if not self.draw(st.integers(0, 4)):
            more = self.label()
            self.lines += [
                f"branch {self.new(f'eq {self.value()}, {self.value()}', 'i1')}, {after}, {more}",
                f"{more}:",
            ]
        self.counters.pop()
        following = self.new(f"add {self.load(counter)}, {step}:i32")
        self.lines += [f"store {following}, %{counter} align 4", f"jump {head}", f"{after}:"]


@st.composite
def counted(draw: st.DrawFn, depth: int = 3) -> Function:
    """A function of %n, which is from -3 to 6, and of arrays."""
    text = _Text(draw)
    for name in VARIABLES:
        text.lines.append(f"store %n, %{name} align 4")
    for k in range(OWN):
        text.lines += [f"%own.{k}: ptr = offset %own, {4 * k}:i64", f"store {k}:i32, %own.{k} align 4"]
    for name in "pqr":
        text.lines.append(f"%{name}.mid: ptr = offset %{name}, {4 * MIDDLE}:i64")
    text.loop(depth - 1)
    text.statements(depth - 1)
    result = text.new(f"xor {text.load('a')}, {text.load('b')}")
    allocas = [f"%own: ptr = alloca {4 * OWN}:i64 align 4"]
    allocas += [*(f"%{name}: ptr = alloca 4:i64 align 4" for name in VARIABLES), *text.allocas]
    body = "\n".join([*allocas, *text.lines])
    head = "function f(%n: i32, %p: ptr, %q: ptr restrict, %r: ptr) -> i32"
    return construct(read(f"{head} {{\nentry:\n{body}\nreturn {result}\n}}\n"))

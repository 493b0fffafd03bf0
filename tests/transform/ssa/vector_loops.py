# SPDX-License-Identifier: Apache-2.0
"""Random loops that may become loops over vectors, as text of `ir.ssa`: loads of x, stores into y and z at one
subscript, some of them under a condition, reductions, and one to three exits."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from polyloom.ir.ssa import Function
from polyloom.ir.ssa_read import read

PAD = 16
"""Elements behind the n that a loop walks over: subscripts of x are i + 0 ... i + 12."""
PURE = ("add", "add", "sub", "and", "or", "xor", "mul", "shl", "lshr", "ashr")
COMPARE = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ugt")
REDUCE = ("add", "sub", "xor", "or", "mul", "call smax", "call umin")


@dataclass(slots=True)
class _Drawing:
    random: Random
    words: list[str] = field(default_factory=lambda: ["%i", "%c", "%d"])
    bits: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    number: int = 0

    def new(self, text: str, type: str = "i32") -> str:
        self.number += 1
        self.lines.append(f"    %v{self.number}: {type} = {text}")
        (self.bits if type == "i1" else self.words if type == "i32" else []).append(f"%v{self.number}")
        return f"%v{self.number}"

    def word(self) -> str:
        if self.random.random() < 0.1:
            return f"{self.random.randrange(-99, 99)}:i32"
        return self.random.choice(self.words[-6:] if self.random.random() < 0.6 else self.words)

    def address(self, array: str, at: int) -> str:
        self.number += 1
        self.lines.append(f"    %b{self.number}: i32 = shl %i, 2:i32")
        whole = self.new(f"offset %{array}, %b{self.number}", "ptr")
        return self.new(f"offset {whole}, {4 * at}:i32", "ptr")

    def bit(self) -> str:
        return self.new(f"{self.random.choice(COMPARE)} {self.word()}, {self.word()}", "i1")

    def compute(self) -> None:
        kind = self.random.random()
        if kind < 0.15:
            self.bit()
        elif kind < 0.3 and self.bits:
            self.new(f"select {self.random.choice(self.bits)}, {self.word()}, {self.word()}")
        elif kind < 0.5:
            self.new(f"load {self.address('x', self.random.randrange(PAD - 3))} align 4")
        else:
            name = self.random.choice(PURE)
            by = f"{self.random.randrange(1, 31)}:i32" if name in ("shl", "lshr", "ashr") else self.word()
            self.new(f"{name} {self.word()}, {by}")

    def store(self) -> None:
        mask = f", {self.random.choice(self.bits)}" if self.bits and self.random.random() < 0.4 else ""
        value, at = self.word(), self.address(self.random.choice("yz"), 0)
        self.lines.append(f"    store {value}, {at}{mask} align 4")

    def exit(self, k: int) -> None:
        masked = self.new(f"and {self.word()}, {self.random.choice((7, 31, 127))}:i32")
        test = self.new(f"eq {masked}, {self.random.randrange(7)}:i32", "i1")
        ways = [f"done({self.word()}, {self.word()})", f"next{k}"]
        if self.random.random() < 0.2:
            ways.reverse()
        self.lines += [f"    branch {test}, {ways[0]}, {ways[1]}", f"next{k}:"]


def _reduced(drawing: _Drawing, variable: str, chains: bool) -> str:
    name = drawing.random.choice(REDUCE)
    first = drawing.new(f"{name} {variable}, {drawing.word()}")
    if chains:
        drawing.words.remove(first)
        return drawing.new(f"{name} {first}, {drawing.word()}")
    return first


def draw(random: Random, most: int = 40, chains: bool = False) -> Function:
    """A loop with about so many instructions at most; with `chains` sums get two numbers in an iteration."""
    drawing = _Drawing(random)
    sums = range(random.randrange(3))
    steps = ["compute"] * random.randrange(2, most) + ["store"] * random.randrange(1, 4)
    random.shuffle(steps)
    exits = sorted(random.randrange(len(steps)) for _ in range(random.randrange(3)))
    for k, step in enumerate(steps):
        for number, at in enumerate(exits):
            if at == k:
                drawing.exit(number)
        getattr(drawing, step)()
    ends = [drawing.word(), drawing.word()]
    nexts = [_reduced(drawing, f"%r{k}", chains) for k in sums]
    ends = [random.choice([end, *nexts, "%i"]) for end in ends]
    parameters = "".join(f", %r{k}: i32" for k in sums)
    first = "".join(f", {random.choice(('0:i32', '5:i32', '%c'))}" for _ in sums)
    text = [
        "pointers 32",
        "function drawn(%n: i32, %c: i32, %d: i32, %x: ptr restrict, %y: ptr restrict, %z: ptr restrict) -> i32 {",
        "entry:",
        "    %some: i1 = sgt %n, 0:i32",
        f"    branch %some, loop(0:i32{first}), done(1:i32, 2:i32)",
        f"loop(%i: i32{parameters}):",
        *drawing.lines,
        "    %j: i32 = add %i, 1:i32",
        "    %last: i1 = eq %j, %n",
        f"    branch %last, done({ends[0]}, {ends[1]}), loop(%j{''.join(f', {n}' for n in nexts)})",
        "done(%p: i32, %q: i32):",
        "    %m: i32 = mul %q, 31:i32",
        "    %s: i32 = add %p, %m",
        "    return %s",
        "}",
    ]
    return read("\n".join(text) + "\n")


def given(n: int, random: Random) -> list[Any]:
    """Fresh arguments for a run that wants n iterations."""
    arrays = [np.array([random.randrange(-99, 99) for _ in range(n + PAD)], np.int32) for _ in range(3)]
    return [n, random.randrange(-50, 50), random.randrange(-(2**31), 2**31), *arrays]

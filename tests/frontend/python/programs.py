# SPDX-License-Identifier: Apache-2.0
"""Random kernels as Python texts: typed expressions, affine, data-dependent and mixed tests, nested branches and loops.

Integer divisions stand under a condition that their divisor is not zero, so that the function itself never faults.
"""

from __future__ import annotations

from random import Random
from textwrap import indent

HEADER = """import math

import polyloom as pl

N = pl.size("N")
SCALE, SHIFT = {constants}


@pl.kernel
def f(x: pl.{dtype}[N], y: pl.{dtype}[N + 2], z: pl.i32[N], p: pl.{dtype}, n: int) -> None:
    v = p
    w = x[0] if N >= 1 else p
"""
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]


class Writer:
    """Writes one kernel over elements of `dtype`; `loops` are the loops around the statement that is being written."""

    def __init__(self, random: Random, dtype: str) -> None:
        self.random, self.dtype, self.loops = random, dtype, ["i"]

    def kernel(self) -> str:
        body = self.block(3, self.random.randint(2, 5))
        step = self.pick(
            [
                "range(N)",
                "range(1, N)",
                "range(N - 1, -1, -1)",
                "reversed(range(min(N, n)))",
                "range(min(N, n) - 1, -1, -1)",
            ]
        )
        header = HEADER.format(dtype=self.dtype, constants="0.5, 3" if self.dtype == "f32" else "7, 3")
        return header + indent(f"for i in {step}:\n{indent(body, '    ')}\n", "    ")

    def pick(self, choices: list[str]) -> str:
        return self.random.choice(choices)

    def block(self, depth: int, count: int) -> str:
        return "\n".join(self.statement(depth) for _ in range(count))

    def statement(self, depth: int) -> str:
        kind = self.random.randint(0, 9)
        if kind < 2 and depth:
            return self.branch(depth - 1)
        if kind == 2 and len(self.loops) < 2:
            self.loops.append("j")
            body = self.block(depth - 1 if depth else 0, 2)
            self.loops.pop()
            ranges = ["range(i)", "range(i, N)", "range(max(0, i - 1), min(N, i + 2))", "range(N - 1, i - 1, -1)"]
            return f"for j in {self.pick(ranges)}:\n{indent(body, '    ')}"
        if kind == 3:
            return f"k = {self.loops[-1]} + 1\ny[k] = {self.value(2)}".replace("k", f"k{self.random.getrandbits(32)}")
        if kind == 4:
            return (
                f"z[{self.index()}] = {self.pick([self.test(1), f'{self.integer()} * 3', f'z[i] + {self.integer()}'])}"
            )
        return f"{self.target()} {self.pick(['=', '=', '+=', '-=', '*='])} {self.value(3)}"

    def branch(self, depth: int) -> str:
        text = f"if {self.test(1)}:\n{indent(self.inner(depth), '    ')}"
        while self.random.random() < 0.3:
            text += f"\nelif {self.test(1)}:\n{indent(self.inner(depth), '    ')}"
        return text + (f"\nelse:\n{indent(self.inner(depth), '    ')}" if self.random.random() < 0.5 else "")

    def inner(self, depth: int) -> str:
        """A branch, perhaps with a variable of its own."""
        if self.random.random() < 0.3:
            name = f"t{self.random.getrandbits(32)}"
            return f"{name} = {self.value(2)}\n{self.target()} = {name} + {self.value(1)}\n{self.block(depth, 1)}"
        return self.block(depth, self.random.randint(1, 2))

    def target(self) -> str:
        return self.pick(["v", "w", "p", f"x[{self.index()}]", f"y[{self.index()} + 1]"])

    def index(self) -> str:
        return self.pick(self.loops)

    def integer(self) -> str:
        return self.pick([*self.loops, "n", f"{self.index()} - 2 * N", f"{self.index()} * n", "SHIFT"])

    def test(self, depth: int) -> str:
        kind = self.random.randint(0, 6)
        if kind == 0 and depth:
            return f"({self.test(depth - 1)} {self.pick(['and', 'or'])} {self.test(depth - 1)})"
        if kind == 1 and depth:
            return f"(not {self.test(depth - 1)})"
        if kind < 4:
            return f"({self.index()} {self.pick(COMPARISONS)} {self.pick(['N - 1', '2', 'n', 'N - i'])})"
        if kind == 4:
            return f"({self.leaf()} <= {self.value(depth)} < {self.leaf()})"
        return f"({self.value(depth)} {self.pick(COMPARISONS)} {self.leaf()})"

    def leaf(self) -> str:
        own = ["SCALE", "0.25", "-1.5", "3"] if self.dtype == "f32" else ["SCALE", "5", "-7", "SHIFT"]
        return self.pick(
            ["v", "w", "p", f"x[{self.index()}]", f"y[{self.index()} + 2]", f"y[{self.index()}]", self.index(), *own]
        )

    def value(self, depth: int) -> str:
        if not depth:
            return self.leaf()
        a, b = self.value(depth - 1), self.value(depth - 1)
        common = [
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {b})",
            f"min({a}, {b})",
            f"max({a}, {b}, {self.leaf()})",
            f"abs({a})",
            f"(-{a})",
        ]
        choices = [*common, self.leaf(), f"({a} if {self.test(depth - 1)} else {b})"]
        return self.pick(choices + (self.real(a, b) if self.dtype == "f32" else self.integral(a, b)))

    def real(self, a: str, b: str) -> list[str]:
        return [f"({a} / {b})", f"math.sqrt(abs({a}))", f"pl.sqrt({a})", "pl.f32(0.1)"]

    def integral(self, a: str, b: str) -> list[str]:
        divided = [f"({a} {symbol} {b} if {b} != 0 else {a})" for symbol in ("//", "%")]
        return [
            *divided,
            f"({a} & {b})",
            f"({a} | {b})",
            f"({a} ^ {b})",
            f"(~{a})",
            f"({a} << 1)",
            f"({a} >> {b})",
            f"pl.{self.dtype}(2)",
        ]

# SPDX-License-Identifier: Apache-2.0
"""Random kernels as Python texts whose accesses meet at a stride: loops of constant steps beside unit loops, parities,
diagonals, quotients and remainders of loops in indices, clamps, and values that one iteration leaves to the next.

Every access is inside its array for all sizes of at least 3, so that no kernel is wrong, and every one means something
on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from textwrap import indent

HEADER = """import polyloom as pl

N = pl.size("N")


@pl.kernel
def f(a: pl.i32[2 * N + 4], b: pl.i32[2 * N + 4], c: pl.i32[N, N], p: pl.i32[N]) -> None:
    assert N >= 3
"""
RANGES = (
    "range(N)",
    "range(N)",
    "range(1, N)",
    "range(0, N, 2)",
    "range(1, N, 2)",
    "range(0, N, 3)",
    "range(N - 1, -1, -1)",
    "range(N - 1, -1, -2)",
)
INNER = ("range({v}, N)", "range({v})", "range({v} + 1, N, 2)", "range({v}, N, 3)", "range(2)")
LINEAR = ("{v}", "{v}", "{v} + 1", "2 * {v}", "2 * {v} + 1", "{v} + N", "N - 1 - {v}", "2 * N - {v}")
"""Of one loop, inside `a` and `b`."""
PARTED = ("{v} // 2", "{v} % 3", "{v} // 2 + 1", "{v} % 2", "{v} // 3", "min({v}, N - 2)", "max({v} - 1, 0)")
FIXED = ("0", "1", "2", "N", "2 * N")
SMALL = ("{v}", "{v}", "N - 1 - {v}", "{v} // 2", "{v} % 3", "min({v}, N - 2)", "max({v} - 1, 0)", "0", "1")
"""Inside the N elements of `p`, and each dimension of `c`."""
TESTS = ("{v} % 2 == 0", "{v} % 2 == 1", "{v} % 3 == 0", "{v} > 1", "{v} < N - 1", "{v} % 4 < 2")
PAIRS = ("{u} == {v}", "{u} < {v}", "({u} + {v}) % 2 == 0", "{u} % 2 == {v} % 2", "{u} + {v} < N")


class Writer:
    """Writes one kernel; `loops` are the loops around the statement that is being written."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.loops: list[str] = []
        self.scalar = False

    def kernel(self) -> str:
        self.scalar = self.random.random() < 0.3
        start = "s = p[0]\n" if self.scalar else ""
        body = start + "\n".join(self.loop(0) for _ in range(self.random.randint(1, 3)))
        return HEADER + indent(body + "\n", "    ")

    def loop(self, depth: int) -> str:
        v = "ij"[depth]
        ranges = RANGES + INNER if depth else RANGES
        head = self.pick(ranges).format(v=self.loops[-1] if self.loops else "")
        self.loops.append(v)
        parts = [self.statement() for _ in range(self.random.randint(0, 1))]
        parts.append(f"{self.access()} {self.pick(('=', '+=', '-='))} {self.value()}")
        if not depth and self.random.random() < 0.3:
            parts.insert(self.random.randint(0, len(parts)), self.loop(1))
        self.loops.pop()
        return f"for {v} in {head}:\n" + indent("\n".join(parts), "    ")

    def statement(self) -> str:
        kind = self.random.random()
        if kind < 0.3:
            return f"if {self.test()}:\n" + indent(self.assignment(), "    ")
        if kind < 0.38:
            return f"if {self.access()} > {self.random.randint(-3, 3)}:\n" + indent(self.assignment(), "    ")
        return self.assignment()

    def test(self) -> str:
        if len(self.loops) == 2 and self.random.random() < 0.5:
            return self.pick(PAIRS).format(u=self.loops[0], v=self.loops[1])
        return self.pick(TESTS).format(v=self.pick(self.loops))

    def assignment(self) -> str:
        if self.scalar and self.random.random() < 0.3:
            return f"s = {self.pick(['s + ', 's - ', ''])}{self.access()}"
        operator = self.pick(["=", "=", "+=", "-="])
        return f"{self.access()} {operator} {self.value()}"

    def value(self) -> str:
        terms = [self.term() for _ in range(self.random.randint(1, 2))]
        return f" {self.pick(['+', '-', '*'])} ".join(terms)

    def term(self) -> str:
        kind = self.random.random()
        if self.scalar and kind < 0.2:
            return "s"
        return str(self.random.randint(1, 5)) if kind < 0.3 else self.access()

    def access(self) -> str:
        name = self.pick("aaabbcp")
        if name == "c":
            return self.diagonal() if self.random.random() < 0.5 else self.element()
        return f"p[{self.index(SMALL)}]" if name == "p" else f"{name}[{self.index(LINEAR + PARTED + FIXED)}]"

    def diagonal(self) -> str:
        at = self.index(("{v}", "{v}", "N - 1 - {v}"))
        return f"c[{at}, {at}]"

    def element(self) -> str:
        return f"c[{self.index(SMALL)}, {self.index(SMALL)}]"

    def index(self, forms: tuple[str, ...]) -> str:
        return self.pick(forms).format(v=self.pick(self.loops))

    def pick(self, choices: Sequence[str]) -> str:
        return self.random.choice(choices)

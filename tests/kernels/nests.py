# SPDX-License-Identifier: Apache-2.0
"""Random loop nests as Python texts: imperfect, triangular, upwards and downwards, one to four loops deep, several
statements.

Arrays have two elements more on every side than loops have iterations, so that every access is inside. `P` and `q` are
only read, anywhere; what statements write is read at random constant distances, and by iterations that hold one of the
indices still.
"""

from __future__ import annotations

from random import Random

HEADER = """import polyloom as pl

N = pl.size("N")


@pl.kernel
def f(A: pl.{t}[N + 4, N + 4], B: pl.{t}[N + 4, N + 4], x: pl.{t}[N + 4], y: pl.{t}[N + 4],
      P: pl.{t}[N + 4, N + 4], q: pl.{t}[N + 4], p: pl.{t}) -> None:
"""
RANGES = ("range(N)", "range(1, N)", "range(N - 1, -1, -1)")
INNER = (
    "range({0})",
    "range({0}, N)",
    "range({0} + 1, N)",
    "range(N - 1, {0} - 1, -1)",
    "range(max(0, {0} - 1), min(N, {0} + 2))",
)
TESTS = ("{0} > 0", "{0} < N - 1", "{0} == 0", "{0} != 1", "{0} < {1}", "{0} >= {1}", "{0} == {1}")
VALUES = ("{}", "{} + {}", "{} - {}", "{} * {}", "{} * {} + 1", "max({}, {})", "min({}, {})", "({} if {} < p else {})")
CARRIED = 3
"""Reads of written elements in a nest: each may need channels of its own, and where many do, compilation takes long."""
DEPTHS = (1, 1, 2, 2, 2, 3, 3, 4)


def kernel(seed: int) -> str:
    """The text of a file with one kernel, `f(N)`."""
    random = Random(seed)
    lines = _Writer(random).nest([], random.choice(DEPTHS))
    if random.random() < 0.2:
        lines += _Writer(random).nest([], random.randint(1, 2))
    return HEADER.format(t=random.choice(["i32", "f32", "i16", "i8"])) + _indented(lines)


def _indented(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines) + "\n"


class _Writer:
    """One nest. `written` are the names of the arrays that its statements write, which others may read, `carried` times
    so far."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.written: list[str] = []
        self.carried = 0

    def nest(self, loops: list[str], depth: int) -> list[str]:
        """`depth` loops, the innermost with one or two statements, perhaps with others around it."""
        own = [*loops, "ijkl"[len(loops)]]
        before = self.statement(own) if depth > 1 and self.random.random() < 0.2 else []
        if depth == 1:
            body = [line for _ in range(self.random.choice([1, 1, 1, 2])) for line in self.statement(own)]
        elif depth == 2 and self.random.random() < 0.25:
            body = self.total(own)
        else:
            body = self.nest(own, depth - 1)
        after = self.statement(own) if depth > 1 and self.random.random() < 0.2 else []
        return [f"for {own[-1]} in {self.range(loops)}:", *(f"    {line}" for line in [*before, *body, *after])]

    def total(self, loops: list[str]) -> list[str]:
        """A sum in a variable of its own."""
        inner = [*loops, "ijkl"[len(loops)]]
        adding = [f"    total += {self.value(inner)}" for _ in range(self.random.choice([1, 1, 1, 2]))]
        return ["total = p", f"for {inner[-1]} in {self.range(loops)}:", *adding, f"{self.target(loops)} = total"]

    def range(self, loops: list[str]) -> str:
        if loops and self.random.random() < 0.3:
            return self.random.choice(INNER).format(loops[-1])
        return self.random.choice(RANGES)

    def statement(self, loops: list[str]) -> list[str]:
        kind, line = self.random.randint(0, 9), f"    {self.assignment(loops)}"
        if kind < 2:
            test = self.random.choice(TESTS if len(loops) > 1 else TESTS[:4]).format(
                *self.random.sample(loops, min(2, len(loops)))
            )
            return [f"if {test}:", line] + (
                ["else:", f"    {self.assignment(loops)}"] if self.random.random() < 0.3 else []
            )
        return [f"if {self.read(loops)} > {self.read(loops)}:", line] if kind == 2 else [line[4:]]

    def assignment(self, loops: list[str]) -> str:
        """A statement with more loops around it than its element has indices is a sum over the others."""
        target = self.target(loops)
        sums = target.count(",") + 1 < len(loops) or self.random.random() < 0.4
        return f"{target} {self.random.choice(['+=', '-=']) if sums else '='} {self.value(loops)}"

    def target(self, loops: list[str]) -> str:
        self.written.append(self.random.choice(["A", "B", "A", "x"] if len(loops) > 1 else ["x", "y"]))
        return _element(self.written[-1], self.kept(loops), (2, 2))

    def kept(self, loops: list[str]) -> list[str]:
        """Mostly the two outer loops."""
        return loops[:2] if self.random.random() < 0.8 else [loops[0], loops[-1]]

    def value(self, loops: list[str]) -> str:
        form = self.random.choice(VALUES)
        return form.format(*(self.read(loops) for _ in range(form.count("{}"))))

    def read(self, loops: list[str]) -> str:
        """An input, anywhere; or what a statement writes, at a distance that is mostly backwards."""
        kind, offsets = self.random.random(), (self.random.randint(0, 4), self.random.randint(0, 4))
        if kind < 0.2:
            return self.random.choice(["p", "3"] * 8 + [loops[-1]])
        if kind < 0.65 or not self.written or self.carried == CARRIED:
            return _element(self.random.choice("Pq"), self.random.sample([*loops, loops[0]], 2), offsets)
        self.carried += 1
        near = offsets if self.random.random() < 0.3 else (min(2, offsets[0]), min(2, offsets[1]))
        return _element(self.random.choice(self.written), self.kept(loops), near)


def _element(name: str, loops: list[str], offsets: tuple[int, int]) -> str:
    """An element of a matrix (a capital) or of a vector."""
    row, column = f"{loops[0]} + {offsets[0]}", f"{loops[-1]} + {offsets[1]}"
    return f"{name}[{row}, {column}]" if name.isupper() else f"{name}[{column}]"

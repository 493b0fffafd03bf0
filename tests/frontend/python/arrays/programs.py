# SPDX-License-Identifier: Apache-2.0
"""Random kernels of whole arrays as texts of Python, over singles from -2 to 2."""

from __future__ import annotations

from random import Random

HEADER = """import numpy as np
import polyloom as pl

N, M = pl.sizes("N M")


def mixed(u, v, by=0.5):
    w = u * by
    return w + v, np.minimum(u, v)


@pl.kernel
def f(a: pl.f32[N, M], b: pl.f32[N, M], c: pl.f32[M, M], x: pl.f32[N], y: pl.f32[M], s: pl.f32):
    assert N >= 4
    assert M >= 4
"""
ARRAYS = {"NM": ["a", "b"], "MM": ["c"], "N": ["x"], "M": ["y"]}


class Writer:
    """Writes one kernel; `known` are the names that have arrays of each shape (mutable)."""

    def __init__(self, random: Random, *, gathers: bool = False) -> None:
        self.random, self.gathers, self.count = random, gathers, 0
        self.known = {shape: [*names] for shape, names in ARRAYS.items()}

    def kernel(self) -> str:
        lines = [self.statement(1) for _ in range(self.random.randint(2, 5))]
        results = ", ".join(self.value(shape, 2) for shape in self.random.sample([*ARRAYS, ""], 2))
        body = "\n".join([*lines, f"return {results}"])
        return HEADER + "".join(f"    {line}\n" for line in body.split("\n"))

    def pick(self, choices: list[str]) -> str:
        return self.random.choice(choices)

    def statement(self, depth: int) -> str:
        shape = self.pick([*ARRAYS])
        name = self.pick(ARRAYS[shape])
        kind = self.random.randint(0, 9 if depth else 5)
        if kind == 0:
            return f"{name}[:] = {self.value(shape, 3)}"
        if kind == 1:
            return f"{name} {self.pick(['+=', '-=', '*='])} {self.value(shape, 2)}"
        if kind == 2:
            row = self.pick([n for n in self.known["NM"] if n in "ab"])
            return f"{row}[{self.pick(['0', '-1', '1:-1', '::2', '::-1'])}] = {self.value('M', 2)}"
        if kind == 3:
            return f"{name}[{name} > {self.number()}] = {self.number()}"
        if kind == 4:
            return f"x[1:] {self.pick(['=', '+='])} {self.value('N', 1)}[:-1]"
        if kind in (5, 6):
            self.count += 1
            text = f"t{self.count} = {self.value(shape, 3)}"
            # A name of another block may have no value behind it.
            if depth:
                self.known[shape].append(f"t{self.count}")
            return text
        if kind == 7:
            inner = "\n".join(f"    {self.statement(0)}" for _ in range(2))
            return f"for i in range({self.pick(['3', '1, 4'])}):\n{inner}"
        if kind == 8:
            sides = [f"    {self.statement(0)}" for _ in range(2)]
            test = self.pick(["s > 0.5", "np.sum(x) < 1.0", "N > M", "x[0] < y[-1]"])
            return f"if {test}:\n{sides[0]}\nelse:\n{sides[1]}"
        self.count += 2
        text = f"t{self.count - 1}, t{self.count} = mixed({self.value(shape, 1)}, {self.leaf(shape)})"
        self.known[shape] += [f"t{self.count - 1}", f"t{self.count}"]
        return text

    def number(self) -> str:
        return self.pick(["0.5", "-1.25", "2.0", "1.0", "s"])

    def leaf(self, shape: str) -> str:
        names = self.known.get(shape, [])
        return self.pick([*names, *names, self.number()]) if shape != "" and names else self.number()

    def array(self, shape: str) -> str:
        return self.pick(self.known[shape])

    def value(self, shape: str, depth: int) -> str:
        if depth <= 0:
            return self.array(shape) if shape else self.number()
        a, b = (
            self.value(shape, depth - 1),
            self.value(shape, depth - 1) if self.random.random() < 0.5 else self.leaf(shape),
        )
        choices = [f"({a} {self.pick(['+', '-', '*'])} {b})"] * 4
        choices += [f"np.where({a} < {b}, {b}, {self.leaf(shape)} + {a})", f"np.maximum({a}, {b})", f"abs({a})"]
        choices += [
            f"np.sqrt(np.abs({a}))",
            f"({a} / (1.5 + np.abs({b})))",
            f"np.tanh({a})",
            f"-({a})",
            f"(({a}) ** 2)",
        ]
        if shape == "":
            inner = self.value(self.pick([*ARRAYS]), depth - 1)
            choices += [f"np.{self.pick(['sum', 'mean', 'max', 'min'])}({inner})", f"np.dot({self.array('N')}, x)"] * 2
        if self.gathers and shape in ("N", "M"):
            index = f"np.clip(np.{self.pick(['floor', 'ceil'])}({a}), -4.0, 3.0).astype(np.int32)"
            choices += [f"{self.array(self.pick(['N', 'M']))}[{index}]"] * 6
            choices += [
                f"{self.array('NM')}[{'0, ' if shape == 'M' else ''}{index}{', 1' if shape == 'N' else ''}]"
            ] * 4
        if shape in ("N", "M"):
            mode = self.pick(["'edge'", "'constant'"])
            axis = 1 if shape == "N" else 0
            matrix, vector = self.value("NM", depth - 1), self.value("M" if shape == "N" else "N", depth - 1)
            choices += [f"np.{self.pick(['sum', 'max', 'mean'])}({matrix}, axis={axis})"] * 2
            choices += [f"({self.array('NM')}{'' if shape == 'N' else '.T'} @ {vector})", f"np.cumsum({a})"]
            choices += [
                f"np.roll({a}, {self.pick(['1', '-2'])})",
                f"np.flip({a})",
                f"np.concatenate(({a}[2:], {a}[:2]))",
            ]
            choices += [f"np.pad({a}[1:-1], 1, mode={mode})"]
        if shape == "NM":
            choices += [f"({self.value('N', depth - 1)}[:, None] + {self.value('M', depth - 1)})"] * 2
            choices += [f"({self.array('NM')} @ {self.array('MM')})", f"np.outer({self.array('N')}, {self.array('M')})"]
            choices += [f"({a} - np.mean({a}, axis=1, keepdims=True))", f"np.cumsum({a}, axis={self.pick(['0', '1'])})"]
        if shape == "MM":
            choices += [
                f"np.triu({a})",
                f"np.tril({a}, -1)",
                f"({a}).T",
                f"({self.array('NM')}.T @ {self.array('NM')})",
            ]
            choices += [f"np.einsum('ik,jk->ij', {a}, {self.array('MM')})"]
        found = self.pick(choices)
        return found if not found.startswith(tuple("-0123456789")) else f"({found})"


def random_kernel(seed: int, *, gathers: bool = False) -> str:
    """One for a seed."""
    return Writer(Random(seed), gathers=gathers).kernel()

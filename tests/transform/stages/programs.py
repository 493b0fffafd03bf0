# SPDX-License-Identifier: Apache-2.0
"""Formulas for tests: those of a file, and of random sums of products of integers with formulas around them."""

from __future__ import annotations

from pathlib import Path
from random import Random

from polyloom import frontend
from polyloom.analysis.formulas_system import system_formulas
from polyloom.frontend.source import Source
from polyloom.ir.formula import Formulas

SIZES = "NMK"


def formulas(path: Path) -> Formulas:
    return formulas_of(frontend.load(str(path)))


def formulas_of(source: Source) -> Formulas:
    assert source.system is not None
    return system_formulas(source.system)


def random_kernel(seed: int) -> str:
    """A Python kernel over i32: one to three statements, of which each sums products, or is a formula of matrices."""
    rng, known, lines = Random(seed), list[str](), list[str]()
    for step in range(rng.randint(1, 3)):
        body = _sum if step == 0 or rng.random() < 0.7 else _formula
        lines += body(rng, f"R{step}", known)
        known.append(f"R{step}")
    arrays = sorted({f"{name}: pl.i32[{SIZES[0]}, {SIZES[0]}]" for name in ("A", "B", "v", *known) if name != "v"})
    head = "import polyloom as pl\nN = pl.sizes('N')\n\n@pl.kernel\n"
    return f"{head}def random(a: pl.i32, v: pl.i32[N], {', '.join(arrays)}) -> None:\n" + "\n".join(lines) + "\n"


def _element(rng: Random, known: list[str], *index: str) -> str:
    name = rng.choice(["A", "B", *known])
    return f"{name}[{', '.join(index if rng.random() < 0.6 else index[::-1])}]"


def _sum(rng: Random, name: str, known: list[str]) -> list[str]:
    target = f"{name}[i, j]"
    begin = rng.choice(["0", "a", "v[j]", f"{target} * a", "A[i, j] - B[j, i]"])
    term = f"{_element(rng, known, 'i', 'k')} * {_element(rng, known, 'k', 'j')}"
    term = rng.choice([term, f"a * {term}", f"{term} * v[i]", f"v[k] * {term}", f"-({term})"])
    if rng.random() < 0.3:
        term = f"{term} {rng.choice('+-')} {_element(rng, known, 'i', 'k')} * {_element(rng, known, 'k', 'j')}"
    lines = [f"            {target} = {begin}", "            for k in range(N):"]
    lines += [f"                {target} {rng.choice(['+=', '-='])} {term}"]
    if rng.random() < 0.5:
        lines.append(f"            {target} = {rng.choice(['max({0}, a)', '{0} * 3 + v[i]', '-{0}']).format(target)}")
    return [*_loops(), *lines]


def _formula(rng: Random, name: str, known: list[str]) -> list[str]:
    parts = [_element(rng, known, "i", "j") for _ in range(rng.randint(1, 6))]
    term = parts[0] + "".join(f" {rng.choice('+-')} {part}" for part in parts[1:])
    return [*_loops(), f"            {name}[i, j] = {term} + a"]


def _loops() -> list[str]:
    return ["    for i in range(N):", "        for j in range(N):"]

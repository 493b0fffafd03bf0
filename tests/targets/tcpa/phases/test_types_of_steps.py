# SPDX-License-Identifier: Apache-2.0
"""Random nests with loops of steps over elements of all types, in Python and in C: what the plan computes is what the
source does, and the array computes it, too.

Types are integers of any width, or floats: no float becomes an integer. In C every array has a type of its own.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
import pytest
from tests.made_up import random_inputs

import polyloom as pl
from polyloom import frontend
from polyloom.ir import plan_interpret
from polyloom.ir.nest_c import TYPES
from polyloom.ir.operations import FLOATS, INTEGERS

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

_UP: Final = ("k", "0", "N")
_HEADS: Final = (_UP, ("k", "1", "N"), ("k", "0", "N - 1"))
_ALL, _LATE = ("i", "0", "N"), ("i", "1", "N")
_BODIES: Final = (
    ((_ALL,), "a[i] = a[N - 1 - i] + b[i]"),
    ((_ALL,), "b[i] = max(b[i], a[N - 1 - i])"),
    ((_ALL,), "b[i] = b[N - 1 - i] * a[i]"),
    ((_LATE,), "a[i] = a[i - 1] - b[N - 1 - i]"),
    ((("i", "0", "k"),), "c[i, k + 1] = c[k + 1, i] + a[i]"),
    ((_ALL, ("j", "0", "N")), "c[i, j] = min(c[i, j], c[i, k + 1] + c[k + 1, j])"),
    ((_ALL, ("j", "0", "N")), "a[i] = a[i] + c[j, i]"),
)
_OF_INTEGERS: Final = (
    ((_ALL,), "a[i] = a[N - 1 - i] ^ b[i]"),
    ((_ALL,), "b[i] = (b[N - 1 - i] >> 1) + (a[i] & 3)"),
)


def _nests(random: Random, kinds: tuple[str, ...]) -> list[tuple[tuple[str, str, str], list[Any]]]:
    """Loops of steps with what is in them."""
    bodies = _BODIES + (_OF_INTEGERS if kinds == INTEGERS else ())
    return [(random.choice(_HEADS), random.sample(bodies, random.randint(1, 2))) for _ in range(random.randint(1, 2))]


def _python(random: Random) -> str:
    kinds = random.choice((INTEGERS, FLOATS))
    kind = random.choice(kinds)
    lines = ["import polyloom as pl", 'N = pl.size("N")', "@pl.kernel"]
    lines += [f"def made(a: pl.{kind}[N], b: pl.{kind}[N], c: pl.{kind}[N + 1, N + 1]) -> None:"]
    for head, bodies in _nests(random, kinds):
        lines.append(f"    {_for_python(head)}")
        for loops, statement in bodies:
            texts = [*map(_for_python, loops), statement]
            lines += [f"{' ' * 4 * (depth + 2)}{text}" for depth, text in enumerate(texts)]
    return "\n".join(lines) + "\n"


def _for_python(loop: tuple[str, str, str]) -> str:
    return f"for {loop[0]} in range({loop[1]}, {loop[2]}):"


def _c(random: Random) -> str:
    kinds = random.choice((INTEGERS, FLOATS))
    a, b, c = (TYPES[random.choice(kinds)] for _ in range(3))
    lines = ["#define max(x, y) ((x) > (y) ? (x) : (y))", "#define min(x, y) ((x) < (y) ? (x) : (y))"]
    lines += [f"void made(int N, {a} a[N], {b} b[N], {c} c[N + 1][N + 1]) {{"]
    for head, bodies in _nests(random, kinds):
        lines.append(f"  {_for_c(head)} {{")
        for loops, statement in bodies:
            text = re.sub(r"c\[([^],]*), ([^]]*)\]", r"c[\1][\2]", statement)
            lines.append(f"    {' '.join(map(_for_c, loops))} {text};")
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def _for_c(loop: tuple[str, str, str]) -> str:
    name, first, last = loop
    return f"for (int {name} = {first}; {name} < {last}; {name}++)"


def _outcome(folder: Path, language: str, seed: int) -> int:
    """The loops of steps of a nest, whose results are compared with its source's."""
    path = folder / f"made{seed}.{language}"
    path.write_text({"py": _python, "c": _c}[language](Random(seed)), encoding="utf-8")
    source = frontend.load(str(path))
    for size in (1, 4):
        inputs = random_inputs(source.plan, {"N": size}, seed)
        want, got = source.reference({"N": size}, inputs), plan_interpret.interpret(source.plan, {"N": size}, inputs)
        assert all(np.array_equal(got[name], want[name], equal_nan=got[name].dtype.kind == "f") for name in want)
    assert pl.compile(source).instantiate(N=4, pes=(2, 2)).run().verified
    return len(source.plan.loops)


@pytest.mark.parametrize("language", ["py", "c"])
def test_types_of_steps(language: str, tmp_path: Path) -> None:
    if language == "c":
        pytest.importorskip("ziglang", reason="C needs the extra `c`")
    assert sum(_outcome(tmp_path, language, seed) > 0 for seed in range(4)) >= 1


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
@pytest.mark.parametrize("language", ["py", "c"])
def test_hundreds_of_types_of_steps(language: str, block: int, tmp_path: Path) -> None:
    for seed in range(100 + 20 * block, 120 + 20 * block):
        _outcome(tmp_path, language, seed)

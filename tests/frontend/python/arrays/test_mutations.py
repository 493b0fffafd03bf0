# SPDX-License-Identifier: Apache-2.0
"""Kernels of arrays with a part replaced by another: each is read, or refused at its place; nothing else happens."""

from __future__ import annotations

import ast
from copy import deepcopy
from pathlib import Path
from random import Random

import pytest
from tests.frontend.python.arrays.faulty import HEADER
from tests.frontend.python.arrays.programs import random_kernel

from polyloom.diagnostics import INPUT, INTERNAL, PolyloomError
from polyloom.frontend.python import load_kernel

CONSTRUCTS = Path(__file__).parent / "constructs.py"
PARTS = (
    "N",
    "M - 1",
    "0",
    "-1",
    "1.5",
    "True",
    "None",
    "...",
    "'text'",
    "(1, 2)",
    "[x, x]",
    "slice(None)",
    "x",
    "y",
    "x[0]",
    "x[None]",
    "x > 0",
    "x.T",
    "x.shape",
    "np",
    "np.sum",
    "np.float32",
    "range(N)",
    "np.arange(3)",
    "np.zeros((N, M))",
    "lambda v: v",
    "N > 3",
    "x.sum()",
    "x.argmax()",
)


class Mutation(ast.NodeTransformer):
    """Replaces the expression at a place by another."""

    def __init__(self, place: int, part: ast.expr) -> None:
        self.place, self.part = place, part

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            self.place -= 1
            if self.place == 0:
                return ast.copy_location(deepcopy(self.part), node)
        return super().generic_visit(node)


def bodies() -> list[list[ast.stmt]]:
    """The bodies of all kernels of this folder, and of some random ones."""
    texts = [CONSTRUCTS.read_text(encoding="utf-8"), *map(random_kernel, range(20))]
    found = [node for text in texts for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return [node.body for node in found if node.decorator_list]


def mutated(random: Random, known: list[list[ast.stmt]]) -> str:
    body = ast.Module(deepcopy(random.choice(known)), [])
    count = sum(isinstance(n, ast.expr) for n in ast.walk(body))
    part = ast.parse(random.choice(PARTS), mode="eval").body
    made = Mutation(random.randint(1, count), part).visit(body)
    text = ast.unparse(ast.fix_missing_locations(made))
    head = HEADER.replace(
        "def f(A: pl.f32[N, M], B: pl.f32[K, M], ", "def f(A: pl.f32[N, M], B: pl.f32[K, M], a: pl.f32[N, M], "
    )
    return head + "".join(f"    {line}\n" for line in text.split("\n"))


def check(seed: int, known: list[list[ast.stmt]], folder: Path) -> None:
    path = folder / f"m{seed}.py"
    path.write_text(mutated(Random(seed), known), encoding="utf-8")
    try:
        assert load_kernel(str(path)).nest
    except PolyloomError as error:
        assert error.exit_code == INPUT != INTERNAL, error
        assert all(d.span is not None and d.help is not None for d in error.diagnostics), error


@pytest.mark.parametrize("start", range(0, 300, 100))
def test_mutations_are_read_or_refused(start: int, tmp_path: Path) -> None:
    known = bodies()
    for seed in range(start, start + 100):
        check(seed, known, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("start", range(1000, 21000, 1000))
def test_many_mutations_are_read_or_refused(start: int, tmp_path: Path) -> None:
    known = bodies()
    for seed in range(start, start + 1000):
        check(seed, known, tmp_path)

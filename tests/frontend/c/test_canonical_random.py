# SPDX-License-Identifier: Apache-2.0
"""Random functions of counters, steps, remainders, clamps, `continue` and `while`, natively and as a nest.

What is refused says so by a code, and most are not; what is accepted computes what C computes, at every size.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.frontend.python.helpers import arguments, assert_same, meaning

from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.diagnostics import INPUT, PolyloomError
from polyloom.frontend import c
from polyloom.frontend.source import Options

pytest.importorskip("ziglang", reason="C needs the extra `c`")

FUNCTIONS, SIZES = 24, (1, 2, 5)
HEAD = """static int least(int a, int b) { if (a < b) return a; return b; }
static void add(int *to, int by) { *to += by; }
"""


def function(seed: int) -> str:
    """A function f{seed} of two arrays; subscripts stay near their middles."""
    body = "\n".join(f"  {line}" for line in _block(Random(seed), ["n"], 2, 1))
    head = f"void f{seed}(int n, int A[160], int B[160]) {{\n  __builtin_assume(n <= 8);\n  A[0] = 1;"
    return f"{head}\n  int k = 0, m = 2;\n{body}\n}}\n"


def _block(random: Random, names: list[str], depth: int, level: int) -> Iterator[str]:
    for _ in range(random.randint(2, 3)):
        kind = random.choice(["store", "store", "count", "if", "loop", "loop", "continue", "while"])
        if kind == "loop" and depth:
            yield from _loop(random, names, depth, level)
        elif kind == "while" and depth == 2:
            yield f"k = {random.randint(0, 3)};"
            yield f"while (k < n + {random.randint(1, 4)}) {{"
            yield f"  A[40 + k] = B[40 + 2 * k] {random.choice('+-^')} {random.choice(['k', '3'])};"
            yield f"  k += {random.randint(1, 3)};"
            yield "}"
        elif kind == "count":
            yield random.choice(["k++;", "k += 2;", "k = m;", "k = n - 1;", "m = m + 1;", "k -= 1;", "m = 3;"])
        elif kind == "if":
            also = random.choice(["", "k++;", "m = 1;"])
            yield f"if ({_condition(random, names)}) {{ {_store(random, names)} {also} }}"
        elif kind == "continue" and level > 1:
            yield f"if ({_condition(random, names)}) continue;"
        else:
            yield _store(random, names)


def _loop(random: Random, names: list[str], depth: int, level: int) -> Iterator[str]:
    name, step = "ijxy"[level], random.choice([1, 1, 2, 3])
    low, high = random.randint(-1, 2), random.choice(["n", "n + 3", "2 * n", "8", f"{names[-1]} + 3"])
    if random.random() < 0.3:
        yield f"for (int {name} = {high}; {name} >= {low}; {name} -= {step}) {{"
    else:
        count = random.choice(["", ", k++"])
        yield f"for (int {name} = {low}; {name} < {high}; {name} += {step}{count}) {{"
    yield from (f"  {line}" for line in _block(random, [*names, name], depth - 1, level + 1))
    yield "}"


def _condition(random: Random, names: list[str]) -> str:
    a, b = random.choice(names), random.choice(names)
    choices = [f"{a} < {b} + 1", f"{a} == 2", f"({a} + 1) % 2 == 0", f"A[40] > {random.randint(-2, 2)}", f"{a} > 3"]
    return random.choice(choices)


def _store(random: Random, names: list[str]) -> str:
    return random.choice(
        [
            f"A[{_index(random, names)}] = B[{_index(random, names)}] - {random.choice(names)};",
            f"B[{_index(random, names)}] += A[{_index(random, names)}] * {random.randint(-3, 3)};",
            f"A[{_index(random, names)}] = B[{_index(random, names)}] = {random.choice(['k', 'm', '7'])};",
            f"add(&B[{_index(random, names)}], least({random.choice(names)}, A[{_index(random, names)}]));",
        ]
    )


def _index(random: Random, names: list[str]) -> str:
    a, b = random.choice(names), random.choice(names)
    plain = [f"40 + {a}", f"40 + {a} + {b}", "40 + k", "40 + m", f"40 + 2 * {a} - {b}", f"50 - {a}"]
    if len(names) == 1:
        return random.choice(plain)
    # Remainders of a size are not affine, those of loops are.
    a = random.choice(names[1:])
    parts = [f"({a} + 41) / 2", f"({a} + 9) % 7", f"(({a} + 12) & 3) + 8", f"40 + ({a} < 2 ? 2 : {a})"]
    return random.choice(plain + parts)


def test_functions_equal_their_nests(tmp_path: Path) -> None:
    path = tmp_path / "random.c"
    path.write_text(HEAD + "\n".join(map(function, range(FUNCTIONS))), encoding="utf-8")
    accepted = 0
    for seed in range(FUNCTIONS):
        try:
            nest, reference = c.load(str(path), Options(function=f"f{seed}"))
            nest = check_with_least_sizes(nest)
        except PolyloomError as error:
            assert error.exit_code == INPUT and all(d.span is not None for d in error.diagnostics)
            continue
        accepted += 1
        for size in SIZES:
            parameters = dict.fromkeys(nest.parameters, size)
            if not nest.assumptions.contains(parameters):
                continue
            inputs = {n: values - 2 for n, values in arguments(nest, parameters, seed).items()}
            assert_same(meaning(nest, parameters, inputs), reference(parameters, inputs))
    assert accepted * 2 >= FUNCTIONS

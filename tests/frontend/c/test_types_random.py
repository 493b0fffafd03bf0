# SPDX-License-Identifier: Apache-2.0
"""Random functions over elements of all types: what C's promotions and conversions make of an expression is what its
nest computes, and what an array does.

Nothing that C leaves undefined is executed: divisors are positive, amounts of shifts small, and only floats of a small
magnitude become integers. Signed overflow wraps in the reference, as everywhere here.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.frontend.python.helpers import assert_same, meaning

from polyloom import api
from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.frontend import c
from polyloom.frontend.source import Options
from polyloom.ir.nest import Nest
from polyloom.ir.nest_c import TYPES
from polyloom.ir.numbers import NUMPY, type_limits
from polyloom.ir.operations import ELEMENT_TYPES, FLOATS, INTEGERS, ElementType

pytest.importorskip("ziglang", reason="C needs the extra `c`")

SIZE, FUNCTIONS, STATEMENTS, ON_THE_ARRAY = 7, 3, 25, 2
HEAD = """float fabsf(float x);
float floorf(float x);
static unsigned char low(int x) { return x; }
static int least(short a, unsigned char b) { return a < b ? a : b; }
"""


def function(seed: int, statements: int = STATEMENTS) -> str:
    """A function f{seed} of an array of each type to read, and one of each to write."""
    random = Random(seed)
    arrays = [f"const {TYPES[t]} r_{t}[n], {TYPES[t]} w_{t}[n]" for t in ELEMENT_TYPES]
    body = "".join(f"    {_statement(random)}\n" for _ in range(statements))
    local = TYPES[random.choice((*INTEGERS, "bool"))]
    return (
        f"void f{seed}(int n, int k, float s, {', '.join(arrays)}) {{\n  for (int i = 0; i < n; i++) {{\n"
        f"    {local} v = {_whole(random, 2)};\n{body}    w_i32[i] ^= v;\n  }}\n}}\n"
    )


def _statement(random: Random) -> str:
    target: ElementType = random.choice(ELEMENT_TYPES)
    sign = random.choice(["=", "=", "=", "+=", "-=", "*="])
    if target in INTEGERS:
        sign = random.choice([sign, sign, "&=", "|=", "^=", "<<=", ">>="])
    if sign in ("<<=", ">>="):
        return f"w_{target}[i] {sign} {random.randint(0, 7)};"
    # What is stored as an integer is one, or a small float.
    whole = target in INTEGERS
    value = _whole(random, 3) if whole else _value(random, 3)
    return f"w_{target}[i] {sign if whole or sign in ('=', '+=', '-=', '*=') else '='} {value};"


def _value(random: Random, depth: int) -> str:
    return _whole(random, depth) if random.random() < 0.7 else _real(random, depth)


def _whole(random: Random, depth: int) -> str:
    if not depth:
        integers = [f"r_{t}[i]" for t in (*INTEGERS, "bool")]
        return random.choice([*integers, "i", "k", "3", "-7", "200u", "0x80000000", "'a'", "40000"])
    a, b = _whole(random, depth - 1), _whole(random, depth - 1)
    kind: str = random.choice(list(TYPES.values())[:8])
    return random.choice(
        [
            f"({a} {random.choice('+-*&|^')} {b})",
            f"({a} {random.choice('/%')} (({b} & 15) + 1))",
            f"({a} {random.choice(['<<', '>>'])} ({b} & 7))",
            f"({a} {random.choice(['<', '<=', '==', '!=', '>'])} {b})",
            f"({a} {random.choice(['<', '>'])} {b} ? {a} : {b})",
            f"({_condition(random, depth - 1)} ? {a} : {b})",
            f"(({kind if kind != 'float' else 'short'}){a})",
            f"({random.choice('-~!')} {a})",
            f"(int)(r_{random.choice(FLOATS)}[i] * {random.choice(['2', '0.5', '0.25f'])})",
            f"low({a})",
            f"least({a}, {b})",
        ]
    )


def _condition(random: Random, depth: int) -> str:
    a, b = _whole(random, depth), _real(random, depth)
    return random.choice([a, f"!{a}", f"{a} && {b} > 0", f"r_bool[i] || {a}", f"{b} < {a}"])


def _real(random: Random, depth: int) -> str:
    if not depth:
        return random.choice(["r_f32[i]", "r_f64[i]", "s", "0.5f", "0.1", "1e-3f", "3.0"])
    a, b, whole = _real(random, depth - 1), _real(random, depth - 1), _whole(random, depth - 1)
    return random.choice(
        [
            f"({a} {random.choice('+-*')} {b})",
            f"({a} / ({b} * {b} + 1))",
            f"({a} * {whole})",
            f"((float){whole})",
            f"((double){a})",
            f"((float){a})",
            f"fabsf({a})",
            f"({_condition(random, depth - 1)} ? {a} : {whole})",
            f"floorf({a})",
        ]
    )


def _inputs(nest: Nest, seed: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    found = dict[str, np.ndarray]()
    for storage in nest.storage:
        if storage.role == "argument":
            shape, span = (SIZE,) if storage.shape else (), type_limits(storage.dtype)
            values = generator.integers(*span, shape, endpoint=True) if span else generator.uniform(-50, 50, shape)
            found[storage.name] = np.asarray(values).astype(NUMPY[storage.dtype])
    return found


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("types") / "types.c"
    small = [function(1000 + n, 1) for n in range(ON_THE_ARRAY)]
    texts = "\n".join([*map(function, range(FUNCTIONS)), *small])
    file.write_text(f"{HEAD}{texts}", encoding="utf-8")
    return file


@pytest.mark.parametrize("seed", range(FUNCTIONS))
def test_a_function_equals_its_nest(path: Path, seed: int) -> None:
    nest, reference = c.load(str(path), Options(function=f"f{seed}"))
    nest, inputs = check_with_least_sizes(nest), _inputs(nest, seed)
    parameters = dict.fromkeys(nest.parameters, SIZE)
    assert_same(meaning(nest, parameters, inputs), reference(parameters, inputs))


@pytest.mark.parametrize("seed", range(1000, 1000 + ON_THE_ARRAY))
def test_an_array_equals_a_function(path: Path, seed: int) -> None:
    compiled = api.compile(path, on="tcpa:wide", options=Options(function=f"f{seed}"))
    assert compiled.instantiate(n=SIZE, pes=(2, 1)).run(fill="random").verified

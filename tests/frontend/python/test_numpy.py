# SPDX-License-Identifier: Apache-2.0
"""Random kernels over elements of several types, as the plain functions over NumPy that they are: NumPy's promotions
and conversions are what the nest computes, and what the reference of a kernel does.

Floats that become integers are small, and divisors are not zero: the rest NumPy leaves to the processor.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.frontend.python.helpers import assert_same, meaning

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python import load_kernel
from polyloom.ir.numbers import NUMPY, type_limits
from polyloom.ir.operations import FLOATS, INTEGERS, ElementType

SIZE, KERNELS, STATEMENTS = 6, 60, 3
TYPES: tuple[ElementType, ...] = (*INTEGERS, "bool", *FLOATS)


def body(random: Random) -> str:
    # NumPy refuses to store an integer that is out of range, where a kernel wraps it.
    lines = [f"w_{target}[i] = pl.{target}({_value(random, 2, target)})" for target in random.sample(TYPES, STATEMENTS)]
    target = random.choice(INTEGERS)
    lines.append(f"w_{target}[i] {random.choice(['+=', '-=', '*=', '^='])} pl.{target}({_whole(random, 1)})")
    return "\n".join(f"        {line}" for line in lines)


def _value(random: Random, depth: int, target: ElementType) -> str:
    if target == "bool":
        return random.choice([_test(random, depth), f"r_bool[i] {random.choice('&|^')} ({_test(random, depth)})"])
    return _whole(random, depth) if target in INTEGERS or random.random() < 0.3 else _real(random, depth)


def _whole(random: Random, depth: int) -> str:
    if not depth:
        return f"r_{random.choice(INTEGERS)}[i]"
    a, b = _whole(random, depth - 1), _whole(random, depth - 1)
    kind = random.choice(INTEGERS)
    return random.choice(
        [
            f"({a} {random.choice('+-*&|^')} {b})",
            f"({a} {random.choice('+-*&|^')} 5)",
            f"({a} {random.choice(['//', '%', '>>', '<<'])} 3)",
            f"pl.{kind}({a})",
            f"({a}).astype(np.{NUMPY[kind].name})",
            f"(~{a})",
            f"pl.{random.choice(['i32', 'i16'])}(r_{random.choice(FLOATS)}[i])",
            f"({a} * r_bool[i])",
            f"({a}) ** 2",
        ]
    )


def _real(random: Random, depth: int) -> str:
    if not depth:
        return random.choice(["r_f32[i]", "r_f64[i]"])
    a, b, whole = _real(random, depth - 1), _real(random, depth - 1), _whole(random, depth - 1)
    return random.choice(
        [
            f"({a} {random.choice('+-*')} {b})",
            f"({a} * {whole})",
            f"({whole} * 0.5)",
            f"({whole} / 4)",
            f"(0.1 * {a})",
            f"pl.f32({whole})",
            f"pl.f64({a})",
            f"np.sqrt(abs({a}))",
            f"np.floor({a})",
        ]
    )


def _test(random: Random, depth: int) -> str:
    a, b = _whole(random, depth), _real(random, depth)
    sign = random.choice(["<", "<=", "==", "!=", ">", ">="])
    return random.choice([f"{a} {sign} 3", f"{b} {sign} 0.5", f"not r_bool[i] or {a} {sign} 7", f"{b} {sign} {a}"])


def _arrays(seed: int) -> dict[str, npt.NDArray[Any]]:
    generator, found = np.random.default_rng(seed), dict[str, npt.NDArray[Any]]()
    for dtype in TYPES:
        span = type_limits(dtype)
        for kind in "rw":
            values = generator.integers(*span, SIZE, endpoint=True) if span else generator.uniform(-50, 50, SIZE)
            found[f"{kind}_{dtype}"] = np.asarray(values).astype(NUMPY[dtype])
    return found


def test_functions_over_numpy_equal_their_nests(tmp_path: Path) -> None:
    accepted = 0
    arguments = ", ".join(f"{kind}_{t}: pl.{t}[N]" for t in TYPES for kind in "rw")
    for seed in range(KERNELS):
        text = f"def f({arguments}) -> None:\n    for i in range(N):\n{body(Random(seed))}\n"
        path = tmp_path / f"f{seed}.py"
        head = 'import numpy as np\n\nimport polyloom as pl\n\nN = pl.size("N")\n\n\n'
        path.write_text(f"{head}@pl.kernel\n{text}", encoding="utf-8")
        try:
            kernel = load_kernel(str(path))
            nest = kernel.nest
        except PolyloomError as error:
            assert {d.code for d in error.diagnostics} == {"PL0139"}, error
            continue
        accepted += 1
        names: dict[str, Any] = {"np": np, "pl": pl, "N": SIZE}
        inputs = _arrays(seed)
        plain = {name: array.copy() for name, array in inputs.items()}
        with np.errstate(all="ignore"):
            exec(compile(f"from __future__ import annotations\n{text}", "<f>", "exec"), names)
            names["f"](**plain)
        found = meaning(nest, {"N": SIZE}, inputs)
        assert_same(found, kernel.reference({"N": SIZE}, inputs))
        assert_same({name: plain[name] for name in found}, found)
    assert accepted * 3 >= KERNELS * 2

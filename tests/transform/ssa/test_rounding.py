# SPDX-License-Identifier: Apache-2.0
"""Rounding to integral values and reversed bits, which SSA form has no names for: as the host computes them, bit for
bit, zeros of both signs, halves, neighbours of integers and of 2^p, infinities and NaN included; and on RISC-V."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.riscv.backend.running import run
from tests.transform.ssa.native import call

from polyloom.frontend.c.llvm import load_ssa
from polyloom.frontend.source import Options
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_semantics import value_bits
from polyloom.ir.ssa_types import FLOATS
from polyloom.ir.ssa_verify import verify

pytest.importorskip("ziglang", reason="C needs the extra `c`")

SOURCE = Path(__file__).with_name("rounding.c")
NAMES = re.findall(r"^\w+ (\w+)\(", SOURCE.read_text(encoding="utf-8"), re.MULTILINE)


def samples(dtype: type[np.floating]) -> list[float]:
    limit = 2.0 ** np.finfo(dtype).nmant
    near = [dtype(n + half) for n in range(-4, 5) for half in (-0.5, 0.0, 0.5)]
    near += [dtype(sign * (limit + step)) for sign in (-1, 1) for step in (-2, -1.5, -1, -0.5, 0, 1, 2)]
    near += [np.nextafter(x, dtype(to)) for x in near for to in (-np.inf, np.inf)]
    return [float(x) for x in near] + [-0.0, 5e-324 if dtype is np.float64 else 1e-45]


@pytest.mark.parametrize("name", NAMES)
def test_equals_the_host(name: str) -> None:
    function = verify(load_ssa(str(SOURCE), Options(function=name), 1))
    type, result = function.parameters[0].type, function.result
    assert result is not None
    if type in FLOATS:
        values: list[float] | list[int] = samples(np.float32 if type == FLOATS[0] else np.float64)
        if result in FLOATS:
            values = [*values, float("inf"), float("-inf"), 1e30, float("nan")]
    else:
        random = np.random.default_rng(1)
        values = [0, 1, -1, *(int(x) for x in random.integers(-(1 << (type.bits - 1)), 1 << (type.bits - 1) - 1, 50))]
    for value in values:
        ours, theirs = interpret(function, [value], 1000), call(SOURCE, function, [value])
        assert ours is not None
        assert theirs is not None
        if value == value:
            assert value_bits(result, ours) == value_bits(result, theirs), (value, ours, theirs)
        else:
            assert ours != ours


@pytest.mark.parametrize(
    ("name", "value", "on"),
    [
        ("integer_f", "2.5", "riscv:rv32imf"),
        ("away_d", "-0.5", "riscv:rv32gc"),
        ("up_f", "-0.25", "riscv:rv64gc"),
        ("long_d", "-3.5", "riscv:rv64gc"),
        ("bits_32", "77", "riscv:rv32imc"),
        ("bits_64", "77", "riscv:rv32imc"),
        ("down_f", "-1.5", "belt:silver"),
    ],
)
def test_runs(name: str, value: str, on: str) -> None:
    assert run(str(SOURCE), on, Options(function=name), {"x": value}, {}, 0).verified

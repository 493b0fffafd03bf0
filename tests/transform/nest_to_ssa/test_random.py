# SPDX-License-Identifier: Apache-2.0
"""Random kernels as functions in SSA form: affine nests, functions with branches on data, and kernels whose indices are
data compute what their nests do."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.frontend.python import indirect
from tests.frontend.python.helpers import arguments
from tests.frontend.python.programs import Writer
from tests.frontend.python.test_indirect import NAMES, index_inputs
from tests.kernels.nests import kernel
from tests.transform.nest_to_ssa.checking import check, check_on_riscv

from polyloom.frontend.python import load_kernel
from polyloom.ir.numbers import NUMPY


def check_nest(folder: Path, seed: int) -> None:
    path = folder / "f.py"
    path.write_text(kernel(seed), encoding="utf-8")
    nest = load_kernel(str(path)).indirect
    for size in (1, 2, 5):
        check(nest, {"N": size}, arguments(nest, {"N": size}, seed), 32 if seed % 2 else 64)


def check_function(folder: Path, dtype: str, random: Random) -> None:
    path = folder / "f.py"
    path.write_text(Writer(random, dtype).kernel(), encoding="utf-8")
    nest = load_kernel(str(path)).indirect
    generator = np.random.default_rng(random.getrandbits(32))
    for size in (1, 2, 5):
        inputs = {
            "x": generator.integers(-128, 128, size) / (8 if dtype == "f32" else 1),
            "y": generator.integers(-3, 4, size + 2),
            "z": generator.integers(-99, 99, size),
            "p": generator.integers(-5, 6, ()),
            "n": 3,
        }
        arrays = {
            s.name: np.asarray(inputs[s.name]).astype(NUMPY[s.dtype]) for s in nest.storage if s.role == "argument"
        }
        values = {name: {"N": size, "n": 3}[name] for name in nest.parameters}
        check(nest, values, arrays, random.choice([32, 64]))
        check_on_riscv(nest, values, arrays, "rv32gc" if size == 2 else "rv64gc")


def test_affine_nests(tmp_path: Path) -> None:
    @settings(max_examples=40)
    @given(st.integers(0, 1 << 32))
    def run(seed: int) -> None:
        check_nest(tmp_path, seed)

    run()


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "f32"])
def test_functions_with_branches(dtype: str, tmp_path: Path) -> None:
    @settings(max_examples=3)
    @given(st.integers(0, 1 << 32))
    def run(seed: int) -> None:
        check_function(tmp_path, dtype, Random(seed))

    run()


@pytest.mark.parametrize("pointers", [32, 64])
@pytest.mark.parametrize("name", NAMES)
def test_indices_that_are_data(name: str, pointers: int) -> None:
    nest, rng = getattr(indirect, name).indirect, np.random.default_rng(5)
    for n, m, k in ((1, 1, 1), (6, 5, 9)):
        known = {"N": n, "M": m, "K": k}
        values = {size: known[size] for size in nest.parameters}
        inputs = {**arguments(nest, values), **index_inputs(name, rng, n, m, k)}
        passed = {s.name: np.asarray(inputs[s.name], NUMPY[s.dtype]) for s in nest.storage if s.role == "argument"}
        check(nest, values, passed, pointers)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_many(seed: int, tmp_path: Path) -> None:
    for number in range(40):
        check_nest(tmp_path, 40 * seed + number)
        check_function(tmp_path, ("i8", "i16", "i32", "f32")[number % 4], Random(40 * seed + number))

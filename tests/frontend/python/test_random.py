# SPDX-License-Identifier: Apache-2.0
"""Random kernels: what Python executes, branch by branch, is what the nest means, in which every test of data is a
select."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.frontend.python.helpers import assert_same, meaning
from tests.frontend.python.programs import Writer

from polyloom.frontend.python import load_kernel
from polyloom.ir.numbers import NUMPY


def check(folder: Path, dtype: str, random: Random) -> None:
    path = folder / "f.py"
    path.write_text(Writer(random, dtype).kernel(), encoding="utf-8")
    kernel = load_kernel(str(path))
    generator = np.random.default_rng(random.getrandbits(32))
    for size in (1, 2, 5):
        inputs = {
            "x": generator.integers(-128, 128, size) / (8 if dtype == "f32" else 1),
            "y": generator.integers(-3, 4, size + 2),
            "z": generator.integers(-99, 99, size),
            "p": generator.integers(-5, 6, ()),
        }
        arrays = {
            s.name: np.asarray(inputs[s.name]).astype(NUMPY[s.dtype]) for s in kernel.nest.storage if s.name in inputs
        }
        parameters = {name: {"N": size, "n": 3}[name] for name in kernel.nest.parameters}
        arrays |= {"n": np.array(3, np.int32)} if "n" not in parameters else {}
        assert_same(meaning(kernel.nest, parameters, arrays), kernel.reference(parameters, arrays))


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "f32"])
def test_function_equals_nest(dtype: str, tmp_path: Path) -> None:
    @settings(max_examples=12)
    @given(st.integers(0, 1 << 32))
    def run(seed: int) -> None:
        check(tmp_path, dtype, Random(seed))

    run()


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "f32"])
@pytest.mark.parametrize("seed", range(20))
def test_many_functions_equal_nests(dtype: str, seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    for _ in range(20):
        check(tmp_path, dtype, random)

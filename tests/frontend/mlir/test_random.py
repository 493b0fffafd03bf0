# SPDX-License-Identifier: Apache-2.0
"""Random modules: the nest means what the operations compute, and is printed as MLIR that means the same."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.frontend.c.helpers import canonical
from tests.frontend.mlir.helpers import arguments, assert_equal, read
from tests.frontend.mlir.random_modules import affine_modules, linalg_modules

from polyloom.ir.nest_mlir import print_mlir


@given(affine_modules(), st.integers(1, 5))
@settings(max_examples=15, deadline=None)
def test_random_loops_mean_what_their_operations_compute(text: str, size: int) -> None:
    with TemporaryDirectory() as folder:
        nest, reference = read(Path(folder), text)
        assert_equal(nest, reference, {"N": size})


@given(linalg_modules())
@settings(max_examples=15, deadline=None)
def test_random_structured_operations_mean_what_they_compute(text: str) -> None:
    with TemporaryDirectory() as folder:
        assert_equal(*read(Path(folder), text), {})


@given(affine_modules())
@settings(max_examples=8, deadline=None)
def test_a_random_nest_is_printed_as_mlir_that_reads_back(text: str) -> None:
    with TemporaryDirectory() as folder:
        # Loops that remainders took apart have redundant conditions, which the first reading back removes.
        nest, first = read(Path(folder), text)
        once, second = read(Path(folder), print_mlir(nest))
        again, _ = read(Path(folder), print_mlir(once))
        inputs = arguments(nest, {"N": 4}, 2)
        for name, array in first({"N": 4}, inputs).items():
            np.testing.assert_array_equal(second({"N": 4}, inputs)[name], array)
        assert_equal(once, second, {"N": 4})
        assert canonical(again) == canonical(once)

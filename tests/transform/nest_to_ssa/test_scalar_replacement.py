# SPDX-License-Identifier: Apache-2.0
"""Elements held in scalars: the nest computes what it did, and accesses less."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.frontend.python import indirect
from tests.frontend.python.helpers import KERNELS, arguments, assert_same
from tests.frontend.python.test_indirect import NAMES, index_inputs
from tests.kernels.nests import kernel
from tests.kernels.sizes import PRIMES

from polyloom.frontend.python import load_kernel
from polyloom.ir.nest import Nest
from polyloom.ir.nest_c import print_c
from polyloom.ir.nest_interpret import interpret
from polyloom.ir.nest_verify import verify
from polyloom.transform.library import expand_calls
from polyloom.transform.nest_to_ssa.scalar_replacement import replace_scalars

HEADER = "import polyloom as pl\nN, M = pl.sizes('N M')\n\n\n@pl.kernel\n"


def check(nest: Nest, values: dict[str, int], seed: int = 0) -> None:
    changed = replace_scalars(nest)
    verify(changed)
    inputs = arguments(nest, values, seed)
    assert_same(interpret(nest, values, inputs), interpret(changed, values, inputs))


def kernel_of(folder: Path, text: str) -> Nest:
    path = folder / "kernel.py"
    path.write_text(HEADER + text, encoding="utf-8")
    return load_kernel(str(path)).indirect


@pytest.mark.parametrize("name", PRIMES)
def test_kernels_compute_the_same(name: str) -> None:
    nest = expand_calls(load_kernel(str(KERNELS / f"{name}.py")).indirect)
    for size in (1, 2, 6):
        check(nest, {p: max(size, 1) for p in nest.parameters})


def test_random_nests_compute_the_same(tmp_path: Path) -> None:
    @settings(max_examples=60)
    @given(st.integers(0, 1 << 32))
    def run(seed: int) -> None:
        path = tmp_path / "f.py"
        path.write_text(kernel(seed), encoding="utf-8")
        nest = load_kernel(str(path)).indirect
        for size in (1, 2, 4):
            check(nest, {"N": size}, seed)

    run()


@pytest.mark.parametrize("name", NAMES)
def test_nests_with_indices_of_data_compute_the_same(name: str) -> None:
    nest, rng = getattr(indirect, name).indirect, np.random.default_rng(5)
    changed = replace_scalars(nest)
    verify(changed)
    for n, m, k in ((1, 1, 1), (6, 5, 9)):
        known = {"N": n, "M": m, "K": k}
        values = {size: known[size] for size in nest.parameters}
        inputs = {**arguments(nest, values), **index_inputs(name, rng, n, m, k)}
        assert_same(interpret(nest, values, inputs), interpret(changed, values, inputs))


@pytest.mark.parametrize("name", ["mm2", "cholesky", "symm", "floyd_warshall", "durbin"])
def test_what_is_held(name: str, golden: Golden) -> None:
    golden(f"held-{name}", print_c(replace_scalars(load_kernel(str(KERNELS / f"{name}.py")).indirect)))


def test_an_element_that_may_meet_another_is_not_held(tmp_path: Path) -> None:
    text = """def f(y: pl.i32[N + 1]) -> None:
    for k in range(N):
        y[0] = y[0] + y[k]
"""
    nest = kernel_of(tmp_path, text)
    assert replace_scalars(nest) == nest


def test_an_element_that_no_iteration_may_have_is_held_under_the_condition_of_its_loop(tmp_path: Path) -> None:
    """For N = 0 there is no y[M - 1] to load where M = 0, too."""
    text = """def f(x: pl.i32[N], y: pl.i32[M], z: pl.i32[N]) -> None:
    assert M >= N
    for k in range(N):
        y[M - 1] += x[k]
"""
    nest = kernel_of(tmp_path, text)
    assert replace_scalars(nest) != nest
    for n, m in ((0, 0), (0, 2), (2, 3)):
        check(nest, {"N": n, "M": m})


def test_an_element_that_is_seldom_written_is_not_stored_more_often(tmp_path: Path) -> None:
    text = """def f(x: pl.i32[N, M], y: pl.i32[N]) -> None:
    for i in range(N):
        for k in range(M):
            if k > i:
                y[i] += x[i, k]
"""
    nest = kernel_of(tmp_path, text)
    assert replace_scalars(nest) == nest

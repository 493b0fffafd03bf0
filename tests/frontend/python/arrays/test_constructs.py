# SPDX-License-Identifier: Apache-2.0
"""Everyday constructs of NumPy: read, their nests have the bits of the ordered meaning, NumPy itself gives the same but
for rounding, and machines run them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.frontend.python.arrays import constructs, scoping
from tests.frontend.python.helpers import assert_same

import polyloom as pl
from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.frontend.python.arrays.values import as_items
from polyloom.frontend.python.kernel import Kernel
from polyloom.ir import nest_interpret
from polyloom.ir.arrays.read import read_arrays
from polyloom.ir.arrays.text import print_arrays
from polyloom.ir.numbers import NUMPY

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

KERNELS = {name: value for name, value in {**vars(scoping), **vars(constructs)}.items() if isinstance(value, Kernel)}
SIZES = {"N": 6, "M": 5, "K": 4, "T": 3}, {"N": 5, "M": 4, "K": 3, "T": 2}
CLOSE = 2e-5


def arguments(kernel: Kernel, parameters: Mapping[str, int]) -> dict[str, Any]:
    """Reals in [1, 2), integers from 0 to 3, for all arguments and results."""
    generator, found = np.random.default_rng(1), dict[str, Any]()
    for s in kernel.nest.storage:
        if s.role == "argument":
            shape = [extent.evaluate(parameters) for extent in s.shape]
            values = generator.uniform(1, 2, shape) if s.dtype in ("f32", "f64") else generator.integers(0, 4, shape)
            found[s.name] = np.asarray(values).astype(NUMPY[s.dtype])
    return found


@pytest.mark.parametrize("name", KERNELS)
def test_nest_has_the_ordered_meaning(name: str) -> None:
    kernel = KERNELS[name]
    program = kernel.arrays.program
    assert print_arrays(read_arrays(print_arrays(program))) == print_arrays(program)
    nest = check_with_least_sizes(kernel.nest)
    for sizes in SIZES:
        parameters = {p: sizes[p] for p in program.parameters}
        given = arguments(kernel, parameters)
        ordered = kernel.reference(parameters, given)
        assert_same(ordered, nest_interpret.interpret(nest, parameters, given))
        check_numpy(kernel, parameters, given, ordered)


def check_numpy(kernel: Kernel, parameters: Mapping[str, int], given: Mapping[str, Any], ordered: Any) -> None:
    """What NumPy makes of the function itself."""
    passed = {n: given[n].copy() if given[n].shape else given[n][()] for n in kernel.arrays.order}
    values = as_items(kernel(**passed, **parameters))
    found = {**passed, **dict(zip(kernel.arrays.results, values, strict=False))}
    for name, want in ordered.items():
        got = np.asarray(found[name]).reshape(want.shape)
        assert got.dtype in (want.dtype, np.int64)
        assert np.allclose(want, got, CLOSE, CLOSE, equal_nan=True), name


def test_the_count_is_of_kernels() -> None:
    assert len(set(constructs.EVERYDAY)) == 45
    assert set(constructs.EVERYDAY) <= KERNELS.keys()


@pytest.mark.parametrize("name", KERNELS)
def test_riscv_runs_it(name: str) -> None:
    kernel = KERNELS[name]
    parameters = {p: SIZES[0][p] for p in kernel.arrays.program.parameters}
    assert pl.compile(kernel, on="riscv:rv64gc").run(parameters).verified


ARRAY = ("slices", "broadcasting", "matrix_product", "einsum", "means", "cumulative_sums", "pads", "joined", "softmax")


@pytest.mark.parametrize("name", ARRAY)
def test_the_array_runs_it(name: str) -> None:
    kernel = KERNELS[name]
    parameters = {p: SIZES[0][p] for p in kernel.arrays.program.parameters}
    assert pl.compile(kernel, on="tcpa:unit").run(parameters, pes=(2, 2)).verified


@pytest.mark.parametrize("on", ["belt:gold", "minion"])
@pytest.mark.parametrize("name", ["slices", "helpers", "maxima", "triangles", "factors", "ping_pong", "inside"])
def test_other_machines_run_it(name: str, on: str) -> None:
    kernel = KERNELS[name]
    parameters = {p: SIZES[0][p] for p in kernel.arrays.program.parameters}
    assert pl.compile(kernel, on=on).run(parameters).verified

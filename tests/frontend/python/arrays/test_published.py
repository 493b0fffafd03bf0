# SPDX-License-Identifier: Apache-2.0
"""Kernels as NumPy's users publish them: RISC-V runs all of them, NumPy is within the bound of rounding, and the array
takes most."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.frontend.python.arrays import published

import polyloom as pl
from polyloom.frontend.python.kernel import Kernel
from polyloom.ir.numbers import NUMPY

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

KERNELS = {name: value for name, value in vars(published).items() if isinstance(value, Kernel)}
SIZES = {"N": 6, "M": 5, "K": 4, "L": 4, "T": 3, "H": 5}
ARRAY = ("k2mm", "atax", "bicg", "trisolv", "durbin", "syrk")


def sizes(kernel: Kernel) -> dict[str, int]:
    return {name: SIZES[name] for name in kernel.arrays.program.parameters}


@pytest.mark.parametrize("name", KERNELS)
def test_numpy_is_within_the_bound(name: str) -> None:
    kernel, generator = KERNELS[name], np.random.default_rng(0)
    parameters, given = sizes(kernel), dict[str, Any]()
    for s in kernel.nest.storage:
        if s.name in kernel.arrays.order:
            shape = [extent.evaluate(parameters) for extent in s.shape]
            given[s.name] = np.asarray(generator.uniform(1, 2, shape)).astype(NUMPY[s.dtype])
    assert kernel.compare_with_numpy(parameters, given)


@pytest.mark.parametrize("name", KERNELS)
def test_riscv_runs_it(name: str) -> None:
    assert pl.compile(KERNELS[name], on="riscv:rv64gc").run(sizes(KERNELS[name])).verified


@pytest.mark.parametrize("name", ARRAY)
def test_the_array_runs_it(name: str) -> None:
    assert pl.compile(KERNELS[name]).run(sizes(KERNELS[name]), pes=(2, 2)).verified

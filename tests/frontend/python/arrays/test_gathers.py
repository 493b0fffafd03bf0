# SPDX-License-Identifier: Apache-2.0
"""Gathers of whole arrays: RISC-V and the belt machine give NumPy's elements, other machines say why they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.frontend.python.arrays import gathers
from tests.frontend.python.arrays.random_kernels import read_random_kernel, run_kernel

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python.kernel import Kernel
from polyloom.ir.numbers import NUMPY

KERNELS = {name: value for name, value in vars(gathers).items() if isinstance(value, Kernel)}
SIZES = {"N": 6, "M": 5, "K": 4}


def arguments(kernel: Kernel) -> dict[str, Any]:
    """Reals, and indices that all arrays have, a third of them negative."""
    generator, found = np.random.default_rng(3), dict[str, Any]()
    for s in kernel.indirect.storage:
        if s.name in kernel.arrays.order:
            shape = [extent.evaluate(SIZES) for extent in s.shape]
            values = generator.uniform(0, 4, shape) if s.dtype == "f32" else generator.integers(-2, 4, shape)
            found[s.name] = np.asarray(values).astype(NUMPY[s.dtype])
    # A guard keeps this index from being used.
    return {**found, **({"q": np.array([1000], "i4")} if "q" in found else {})}


def run(kernel: Kernel, on: str, **given: Any) -> bool | None:
    sizes = {name: SIZES[name] for name in kernel.arrays.program.parameters}
    return pl.compile(kernel, on=on).run({**sizes, **arguments(kernel), **given}).verified


@pytest.mark.parametrize("name", KERNELS)
def test_riscv_gives_the_elements(name: str) -> None:
    kernel = KERNELS[name]
    sizes = {n: SIZES[n] for n in kernel.arrays.program.parameters}
    for found in kernel.compare_with_numpy(sizes, arguments(kernel)).values():
        assert found.difference <= found.bound
    assert run(kernel, "riscv:rv64gc")


@pytest.mark.parametrize("name", ["elements", "tables", "guarded"])
def test_the_belt_gives_the_elements(name: str) -> None:
    assert run(KERNELS[name], "belt:gold")


@pytest.mark.parametrize("on", ["tcpa:unit", "minion:2", "tensix"])
def test_other_machines_say_why_not(on: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as caught:
        run(gathers.interpolation, on)
    golden("gathers", "\n".join(str(caught.value).split("\n")[i] for i in (0, -1)))


@pytest.mark.parametrize("index", [6, -7])
def test_an_index_outside_is_refused(index: int) -> None:
    given = {**arguments(gathers.elements), "p": np.array([0, 1, index, 2], "i4")}
    with pytest.raises(PolyloomError, match="PL0972"):
        run(gathers.elements, "riscv:rv64gc", p=given["p"])
    with pytest.raises(PolyloomError, match="PL0221"):
        gathers.elements.reference(SIZES, given)


def check(seed: int, folder: Path, on: str) -> None:
    try:
        kernel = read_random_kernel(seed, folder, gathers=True)
    except PolyloomError as error:
        assert error.code == "PL0139", error
        return
    assert run_kernel(kernel, seed, on)


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(5, 8))])
def test_random_kernels_with_gathers(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path, "riscv:rv64gc")


@pytest.mark.long
@pytest.mark.parametrize("on", ["riscv:rv64gc", "belt:gold"])
@pytest.mark.parametrize("start", range(100, 300, 20))
def test_many_random_kernels_with_gathers(on: str, start: int, tmp_path: Path) -> None:
    for seed in range(start, start + 20):
        check(seed, tmp_path, on)

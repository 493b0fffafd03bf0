# SPDX-License-Identifier: Apache-2.0
"""Python kernels in SSA form compute the bits that the kernels themselves compute on NumPy arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.frontend.python.helpers import arguments
from tests.kernels.sizes import PRIMES
from tests.transform.nest_to_ssa.checking import check

from polyloom import ssa
from polyloom.cli import main
from polyloom.frontend.python import load_kernel
from polyloom.ir.nest import Nest, Storage
from polyloom.ir.ssa_interpret import Argument

KERNELS = Path(__file__).parents[3] / "examples" / "kernels"
NAMES = (
    "gemm",
    "atax",
    "bicg",
    "mvt",
    "gesummv",
    "syrk",
    "trmm",
    "trisolv",
    "cholesky",
    "lu",
    "jacobi2d",
    "heat3d",
    "lcs",
    "smith_waterman",
    "fir",
    "conv2d",
)
SIZE = 5
SIZES = tuple(PRIMES)


def arrays(nest: Nest, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Small positive numbers, with a heavy diagonal so that factorizations exist."""
    random = np.random.default_rng(7)
    return {
        s.name: _filled(s, tuple(extent.evaluate(sizes) for extent in s.shape), random)
        for s in nest.storage
        if s.role == "argument"
    }


def _filled(storage: Storage, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    made = random.integers(1, 9, shape)
    if len(shape) == 2 and shape[0] == shape[1]:
        made = made + 50 * np.eye(shape[0], dtype=np.int64)
    return np.asarray(made, {"f32": np.float32, "i32": np.int32, "i16": np.int16, "i8": np.int8}[storage.dtype])


def passed(nest: Nest, sizes: dict[str, int], given: dict[str, np.ndarray]) -> list[Argument]:
    scalars = {s.name for s in nest.storage if s.role == "argument" and not s.shape and not s.writable}
    return [*sizes.values(), *(given[name].item() if name in scalars else given[name] for name in given)]


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_is_itself(name: str) -> None:
    kernel = load_kernel(str(KERNELS / f"{name}.py"))
    sizes = dict.fromkeys(kernel.nest.parameters, SIZE)
    given = arrays(kernel.nest, sizes)
    expected = kernel.reference(sizes, {key: value.copy() for key, value in given.items()})
    function = ssa.verify(ssa.nest_ssa(kernel.nest))
    assert ssa.interpret(function, passed(kernel.nest, sizes, given)) is None
    assert expected
    for output, value in expected.items():
        np.testing.assert_array_equal(given[output], value, err_msg=output)


@pytest.mark.parametrize("pointers", [32, 64])
@pytest.mark.parametrize("name", SIZES)
def test_every_kernel_is_its_nest(name: str, pointers: int) -> None:
    nest = load_kernel(str(KERNELS / f"{name}.py")).indirect
    values = {size: min(PRIMES[name][size.upper()], 7) for size in nest.parameters}
    check(nest, values, arguments(nest, values), pointers)


def test_the_command_prints_the_function_whatever_the_level(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(KERNELS / "gemm.py")
    expected = ssa.print_ssa(ssa.nest_ssa(load_kernel(path).nest))
    for level in ("0", "1"):
        assert main(["show", path, "--ssa", level]) == 0
        assert ssa.print_ssa(ssa.verify(ssa.read(capsys.readouterr().out))) == expected
        assert ssa.print_ssa(ssa.load(path, ssa.Options(), int(level))) == expected


def test_a_function_says_where_its_operations_come_from() -> None:
    kernel = load_kernel(str(KERNELS / "gemm.py"))
    function = ssa.nest_ssa(kernel.nest)
    places = {(i.place.file, i.place.line) for block in function.blocks for i in block.instructions}
    lines = Path(kernel.path).read_text(encoding="utf-8").splitlines()
    assert {file for file, _ in places} == {kernel.path}
    stores = {i.place.line for block in function.blocks for i in block.instructions if i.operation == "store"}
    assert ["C[i, j]" in lines[line - 1] for line in stores] == [True, True]

# SPDX-License-Identifier: Apache-2.0
"""Python kernels in SSA form, through the C text of their nests, compute the bits that the kernels themselves compute
on NumPy arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polyloom import ssa
from polyloom.cli import main
from polyloom.frontend.python import load_kernel
from polyloom.ir.nest import Nest, Storage
from polyloom.ir.ssa_interpret import Argument

pytest.importorskip("ziglang", reason="C needs the extra `c`")

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
    function = ssa.verify(ssa.nest_ssa(kernel.nest, 1))
    assert ssa.interpret(function, passed(kernel.nest, sizes, given)) is None
    assert expected
    for output, value in expected.items():
        np.testing.assert_array_equal(given[output], value, err_msg=output)


def test_level_zero_and_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(KERNELS / "gemm.py")
    kernel = load_kernel(path)
    sizes = dict.fromkeys(kernel.nest.parameters, 3)
    one, two = arrays(kernel.nest, sizes), arrays(kernel.nest, sizes)
    for level, given in (("0", one), ("1", two)):
        assert main(["show", path, "--ssa", level]) == 0
        function = ssa.verify(ssa.read(capsys.readouterr().out))
        assert ssa.print_ssa(function) == ssa.print_ssa(ssa.load(path, ssa.Options(), int(level)))
        ssa.interpret(function, passed(kernel.nest, sizes, given))
    np.testing.assert_array_equal(one["C"], two["C"])

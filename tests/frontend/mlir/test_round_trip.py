# SPDX-License-Identifier: Apache-2.0
"""Kernels printed as MLIR, which xDSL reads back as an equal nest, or an equal program of whole arrays (`polyloom show
--as mlir`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.frontend.c.helpers import KERNELS, canonical
from tests.frontend.mlir.helpers import arguments, read

from polyloom import frontend
from polyloom.frontend.c import load
from polyloom.frontend.mlir import load_mlir
from polyloom.frontend.source import Options
from polyloom.ir.arrays.mlir import print_linalg
from polyloom.ir.arrays.program import Program
from polyloom.ir.arrays.text import print_arrays
from polyloom.ir.nest_mlir import print_mlir

NAMES = sorted(path.stem for path in KERNELS.glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_is_printed_as_mlir_that_reads_back(name: str, tmp_path: Path) -> None:
    nest = frontend.python_nest(str(KERNELS / f"{name}.py"), Options())[0]
    again, _ = read(tmp_path, print_mlir(nest), nest.name)
    assert canonical(again) == canonical(nest)


def test_an_array_keeps_its_sign(tmp_path: Path) -> None:
    """Also where all operations on its elements have none."""
    path = tmp_path / "k.c"
    path.write_text(
        "void k(int n, int a[n], unsigned b[n]) { for (int i = 0; i < n; i++) b[i] = (unsigned)a[i] / 3; }\n"
    )
    nest = load(str(path), Options())[0]
    again, _ = read(tmp_path, print_mlir(nest))
    assert [(s.name, s.dtype) for s in again.storage] == [("a", "i32"), ("b", "u32")]
    assert canonical(again) == canonical(nest)


STRUCTURED = Path(__file__).parents[2] / "transform" / "arrays" / "structured.mlir"
ARRAYS = """
from __future__ import annotations
import numpy as np
import polyloom as pl
from polyloom import f32

@pl.kernel
def dense(n: int, x: f32[n, 6], w: f32[6, 5], b: f32[5], alpha: f32, y: f32[n, 5]):
    y[:] = np.maximum(alpha * (x @ w) + b, 0.0) / np.arange(1, 6)
"""


def read_back(program: Program, folder: Path) -> Program:
    """The program that its text as linalg is."""
    text = print_linalg(program)
    assert text is not None
    path = folder / "again.mlir"
    path.write_text(text)
    found = load_mlir(str(path), None).program
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["dense", "convolution", "softmax", "accumulation"])
def test_structured_operations_are_printed_as_linalg_that_reads_back(name: str, tmp_path: Path) -> None:
    program = load_mlir(str(STRUCTURED), name).program
    assert program is not None
    assert print_arrays(read_back(program, tmp_path)) == print_arrays(program)


def test_a_kernel_of_whole_arrays_is_printed_as_linalg(tmp_path: Path) -> None:
    """Its sums become arrays of their own; what is read back is that program, and computes the same."""
    path = tmp_path / "k.py"
    path.write_text(ARRAYS)
    kernel = frontend.read_function(str(path), Options())
    assert kernel is not None and kernel.program is not None
    once = read_back(kernel.program, tmp_path)
    assert print_arrays(read_back(once, tmp_path)) == print_arrays(once)
    again = load_mlir(str(tmp_path / "again.mlir"), None)
    inputs = arguments(again.nest, {"n": 3}, 1)
    np.testing.assert_array_equal(again.reference({"n": 3}, inputs)["y"], kernel.reference({"n": 3}, inputs)["y"])

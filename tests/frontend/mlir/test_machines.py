# SPDX-License-Identifier: Apache-2.0
"""Functions of MLIR on machines, what they compute beside NumPy, and that a wrong lowering is noticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.frontend.mlir.helpers import arguments, assert_equal, read

import polyloom as pl
from polyloom.diagnostics import MISMATCH, PolyloomError
from polyloom.frontend.mlir.lowering.scalars import SIMPLE

EXAMPLES = Path(__file__).parents[3] / "examples" / "mlir"


@pytest.mark.parametrize("on", ["tcpa:2x2", "riscv", "belt"])
def test_a_product_has_equal_bits_as_loops_and_as_linalg(on: str) -> None:
    generator = np.random.default_rng(1)
    a, b = (generator.standard_normal((4, 4), np.float32) for _ in range(2))
    c = np.zeros((4, 4), np.float32)
    loops = pl.load(f"{EXAMPLES / 'gemm.mlir'}:gemm", on=on).run(N=4, M=4, K=4, A=a, B=b, C=c.copy())
    linalg = pl.load(f"{EXAMPLES / 'gemm.mlir'}:matmul", on=on).run(A_0=4, A_1=4, B_1=4, A=a, B=b, C=c.copy())
    assert loops.verified and linalg.verified
    np.testing.assert_array_equal(loops.outputs["C"], linalg.outputs["C"])
    np.testing.assert_allclose(np.asarray(loops.outputs["C"], np.float64), a @ b, rtol=1e-5)


def test_a_wrong_lowering_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIMPLE, "arith.addf", ("sub", ""))
    with pytest.raises(PolyloomError) as caught:
        pl.load(f"{EXAMPLES / 'gemm.mlir'}:gemm", on="riscv").run({"N": 3, "M": 3, "K": 3}, fill="random")
    assert caught.value.exit_code == MISMATCH


CONVOLUTION = """
func.func @f(%x: tensor<2x9x7x3xf64>, %k: tensor<3x2x3x4xf64>, %o: tensor<2x3x5x4xf64>) -> tensor<2x3x5x4xf64> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}
    ins(%x, %k : tensor<2x9x7x3xf64>, tensor<3x2x3x4xf64>) outs(%o : tensor<2x3x5x4xf64>) -> tensor<2x3x5x4xf64>
  return %r : tensor<2x3x5x4xf64>
}
"""


def test_a_convolution_is_what_numpy_computes_of_windows(tmp_path: Path) -> None:
    nest, reference = read(tmp_path, CONVOLUTION)
    given = arguments(nest, {}, 1)
    found = assert_equal(nest, reference, {})["result"]
    expected = given["o"].copy()
    for y in range(3):
        for x in range(2):
            window = given["x"][:, 2 * y : 2 * y + 5 : 2, x : x + 5, :]
            expected += np.einsum("nhwc,cf->nhwf", window, given["k"][y, x])
    np.testing.assert_allclose(np.asarray(found, np.float64), expected)


NAMED: dict[str, tuple[str, Any]] = {
    "batch_matmul": ("2x3x4, 2x4x5 -> 2x3x5", "bmk,bkn->bmn"),
    "matmul_transpose_b": ("3x4, 5x4 -> 3x5", "mk,nk->mn"),
    "matvec": ("3x4, 4 -> 3", "mn,n->m"),
    "vecmat": ("3, 3x4 -> 4", "m,mn->n"),
    "dot": ("6, 6 -> ", "m,m->"),
    "mmt4d": ("2x3x4x5, 3x3x2x5 -> 2x3x4x2", "mkil,nkjl->mnij"),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_named_product_is_numpys_sum(name: str, tmp_path: Path) -> None:
    shapes, labels = NAMED[name]
    inputs, output = shapes.split(" -> ")
    a, b, c = (f"memref<{f'{s}x' if s else ''}i32>" for s in (*inputs.split(", "), output))
    body = f"linalg.{name} ins(%A, %B : {a}, {b}) outs(%C : {c})"
    text = f"func.func @f(%A: {a}, %B: {b}, %C: {c}) {{\n  {body}\n  return\n}}\n"
    nest, reference = read(tmp_path, text)
    given = arguments(nest, {}, 1)
    found = assert_equal(nest, reference, {})["C"]
    expected = given["C"] + np.einsum(labels, given["A"], given["B"])
    np.testing.assert_array_equal(found.reshape(expected.shape), expected)


@pytest.mark.parametrize("name", sorted(SIMPLE))
def test_an_operation_means_what_it_computes(name: str, tmp_path: Path) -> None:
    """Each operation of the table, on every type that it has."""
    count = {"math.fma": 3}.get(name, 1 if name.startswith("math.") or name == "arith.negf" else 2)
    whole = name.endswith("i") or name[-2:] in ("ui", "si")
    for kind in ("i8", "i16", "i32") if whole else ("f32", "f64"):
        if kind == "f64" and name[5:] in ("exp", "exp2", "log", "sin", "cos", "tanh"):
            continue
        operands = ", ".join(f"%x{n}" for n in range(count))
        loads = "\n".join(f"    %x{n} = affine.load %A[%i + {n}] : memref<24x{kind}>" for n in range(count))
        if "div" in name or "rem" in name or "sh" in name:
            loads += f"\n    %d = arith.constant 3 : {kind}"
            operands = "%x0, %d" if whole else operands
        text = f"""func.func @f(%A: memref<24x{kind}>, %B: memref<20x{kind}>) {{
  affine.for %i = 0 to 20 {{
{loads}
    %y = {name} {operands} : {kind}
    affine.store %y, %B[%i] : memref<20x{kind}>
  }}
  return
}}
"""
        assert_equal(*read(tmp_path, text), {})


def test_indices_that_are_data_run_on_risc_v(tmp_path: Path) -> None:
    path = tmp_path / "gather.mlir"
    path.write_text("""func.func @f(%P: memref<8xindex>, %x: memref<8xf32>, %y: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %k = affine.load %P[%i] : memref<8xindex>
    %v = memref.load %x[%k] : memref<8xf32>
    affine.store %v, %y[%i] : memref<8xf32>
  }
  return
}
""")
    order, x = np.arange(8, dtype=np.int32)[::-1].copy(), np.arange(8, dtype=np.float32)
    run = pl.compile(str(path), on="riscv").run(P=order, x=x, y=np.zeros(8, np.float32))
    assert run.verified
    np.testing.assert_array_equal(run.outputs["y"], x[::-1])

# SPDX-License-Identifier: Apache-2.0
"""Values that are easily got wrong: those that turns swap, tensors that a call replaces, numbers of a few bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.frontend.mlir.helpers import assert_equal, read

import polyloom as pl
from polyloom.diagnostics import PolyloomError


def check(folder: Path, text: str) -> None:
    """The nest of @f means what its operations compute, with sizes of 6."""
    nest, reference = read(folder, text, "f")
    assert_equal(nest, reference, dict.fromkeys(nest.parameters, 6))


def counted(yields: str, carried: str = "index", start: str = "%b0") -> str:
    """A loop over n turns, which pass on an index %a and a value %b; %c is %a + 1, and %k %a as data."""
    read_b = "%j = arith.index_cast %b : index to i32" if carried == "index" else "%j = arith.addi %b, %z : i32"
    return f"""func.func @f(%n: index, %x: memref<32xf32>, %y: memref<16xi32>) {{
  %a0 = arith.constant 0 : index
  %b0 = arith.constant 1 : index
  %z = arith.constant 0 : i32
  %r:2 = scf.for %i = %a0 to %n step %b0 iter_args(%a = %a0, %b = {start}) -> (index, {carried}) {{
    {read_b}
    memref.store %j, %y[%i] : memref<16xi32>
    %q = memref.load %x[%a] : memref<32xf32>
    memref.store %q, %x[%a] : memref<32xf32>
    %c = arith.addi %a, %b0 : index
    %k = arith.index_cast %a : index to i32
    scf.yield {yields} : index, {carried}
  }}
  return
}}
"""


@pytest.mark.parametrize("text", [counted("%c, %a"), counted("%c, %k", "i32", "%z")], ids=["index", "data"])
def test_an_index_that_a_turn_leaves_is_read_before_it_changes(text: str, tmp_path: Path) -> None:
    check(tmp_path, text)


def test_a_call_does_not_replace_a_tensor_that_its_caller_reads(tmp_path: Path) -> None:
    check(
        tmp_path,
        """func.func @g(%t: tensor<4xf32>, %v: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.insert %v into %t[%c0] : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @f(%v: f32, %w: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.splat %w : tensor<4xf32>
  %r = func.call @g(%e, %v) : (tensor<4xf32>, f32) -> tensor<4xf32>
  %s = arith.addf %e, %e : tensor<4xf32>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}
""",
    )


def test_a_tensor_of_a_part_keeps_its_elements(tmp_path: Path) -> None:
    """The memref is stored to under another name."""
    check(
        tmp_path,
        """func.func @f(%m: memref<8xf32>, %z: memref<4xf32>) {
  %v = arith.constant 5.0 : f32
  %s = memref.subview %m[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %t = bufferization.to_tensor %s : memref<4xf32, strided<[1]>> to tensor<4xf32>
  affine.store %v, %m[0] : memref<8xf32>
  affine.for %i = 0 to 4 {
    %a = tensor.extract %t[%i] : tensor<4xf32>
    affine.store %a, %z[%i] : memref<4xf32>
  }
  return
}
""",
    )


def element_wise(line: str, kind: str = "i1", declared: str = "") -> str:
    return f"""func.func @f(%x: memref<4x{kind}>, %y: memref<4x{kind}>, %z: memref<4x{kind}>) {{
  affine.for %i = 0 to 4 {{
    %a = affine.load %x[%i] : memref<4x{kind}>
    %b = affine.load %y[%i] : memref<4x{kind}>
    {declared}
    %c = {line} : {kind}
    affine.store %c, %z[%i] : memref<4x{kind}>
  }}
  return
}}
"""


TRUTHS: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: (a + b) % 2, "subi": lambda a, b: (a - b) % 2, "muli": lambda a, b: a * b,
    "minsi": lambda a, b: -min(-a, -b), "maxsi": lambda a, b: -max(-a, -b),
    "minui": min, "maxui": max,
    "cmpi slt,": lambda a, b: int(-a < -b), "cmpi sge,": lambda a, b: int(-a >= -b),
    "cmpi ult,": lambda a, b: int(a < b),
}  # fmt: skip


@pytest.mark.parametrize("name", TRUTHS)
def test_a_truth_is_one_bit_in_twos_complement(name: str, tmp_path: Path) -> None:
    nest, reference = read(tmp_path, element_wise(f"arith.{name} %a, %b"))
    x, y = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    assert_equal(nest, reference, {})
    found = reference({}, {"x": x, "y": y, "z": x})["z"]
    assert found.astype(int).tolist() == [TRUTHS[name](int(a), int(b)) for a, b in zip(x, y, strict=True)]


def test_a_maximum_with_a_constant_nan_is_nan(tmp_path: Path) -> None:
    check(tmp_path, element_wise("arith.maximumf %a, %n", "f32", "%n = arith.constant 0x7FC00000 : f32"))


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        ("%s = arith.addi %a, %a : i8\n  %t = arith.cmpi sgt, %s, %zero : i8", "constants wrap"),
        ("%k = arith.index_cast %i : index to i32\n %w = arith.trunci %k : i32 to i8\n"
         " %t = arith.cmpi slt, %w, %zero : i8", "truncation cuts"),
        ("%k = arith.subi %i, %c3 : index\n  %t = arith.cmpi ugt, %k, %c5 : index", "negative is large"),
        ("%k = arith.subi %i, %c3 : index\n  %t = arith.cmpi uge, %c5, %k : index", "other side"),
        ("%k = arith.subi %i, %c3 : index\n  %t = arith.cmpi ult, %k, %m2 : index", "below a large one"),
        ("%k = arith.index_castui %e : i8 to index\n  %t = arith.cmpi slt, %i, %k : index", "without its sign"),
    ],
)  # fmt: skip
def test_integers_of_a_few_bits_and_without_sign(lines: str, result: str, tmp_path: Path) -> None:
    del result
    check(
        tmp_path,
        f"""func.func @f(%z: memref<300xi32>) {{
  affine.for %i = 0 to 300 {{
    %a = arith.constant 100 : i8
    %e = arith.constant 255 : i8
    %zero = arith.constant 0 : i8
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %m2 = arith.constant -2 : index
    {lines}
    %u = arith.extui %t : i1 to i32
    affine.store %u, %z[%i] : memref<300xi32>
  }}
  return
}}
""",
    )


def test_a_negative_power_of_an_integer_is_refused(tmp_path: Path) -> None:
    text = element_wise("math.ipowi %a, %n", "i32", "%n = arith.constant -1 : i32")
    with pytest.raises(PolyloomError, match="negative exponent"):
        read(tmp_path, text)


def test_a_parallel_loop_reduces_from_the_neutral_element(tmp_path: Path) -> None:
    check(
        tmp_path,
        """func.func @f(%x: memref<8xf32>, %z: memref<1xf32>) {
  %r = affine.parallel (%i) = (0) to (8) reduce ("addf") -> (f32) {
    %a = affine.load %x[%i] : memref<8xf32>
    affine.yield %a : f32
  }
  affine.store %r, %z[0] : memref<1xf32>
  return
}
""",
    )


def test_bounds_of_a_parallel_loop_may_be_symbols(tmp_path: Path) -> None:
    text = """func.func @f(%n: index, %x: memref<?xf32>, %z: memref<?xf32>) {
  affine.parallel (%i) = (symbol(%n) - 2) to (min(symbol(%n) + 1, %n)) {
    %a = affine.load %x[%i] : memref<?xf32>
    affine.store %a, %z[%i] : memref<?xf32>
  }
  return
}
"""
    nest, reference = read(tmp_path, text)
    x, z = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    assert reference({"n": 5}, {"x": x, "z": z})["z"].tolist() == [0, 0, 0, 3, 4]
    assert_equal(nest, reference, {"n": 5})


TRANSPOSED = """
func.func @f(%A: memref<3x3xf32>, %B: memref<3x3xf32>, %C: memref<3x3xf32>, %D: memref<3x3xf32>) {
  linalg.copy ins(%C : memref<3x3xf32>) outs(%D : memref<3x3xf32>)
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 3 {
      %0 = affine.load %C[%i, %j] : memref<3x3xf32>
      affine.store %0, %A[%i, %j] : memref<3x3xf32>
      %1 = affine.load %A[%j, %i] : memref<3x3xf32>
      affine.store %1, %B[%j, %i] : memref<3x3xf32>
    }
  }
  return
}
"""
FILLED_TWICE = """
func.func private @zero(%C: memref<3xf32>) {
  %z = arith.constant 0.0 : f32
  linalg.fill ins(%z : f32) outs(%C : memref<3xf32>)
  return
}
func.func @f(%A: memref<3x3xf32>, %C: memref<3xf32>, %D: memref<3xf32>) {
  func.call @zero(%C) : (memref<3xf32>) -> ()
  linalg.copy ins(%C : memref<3xf32>) outs(%D : memref<3xf32>)
  func.call @zero(%C) : (memref<3xf32>) -> ()
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
                  iterator_types = ["parallel", "reduction"]} ins(%A : memref<3x3xf32>) outs(%C : memref<3xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a : f32
    linalg.yield %s : f32
  }
  return
}
"""


@pytest.mark.parametrize("text", [TRANSPOSED, FILLED_TWICE], ids=["transposed", "filled twice"])
def test_loops_beside_linalg_keep_their_order(text: str, tmp_path: Path) -> None:
    check(tmp_path, text)


def test_a_maximum_of_zeros_keeps_the_sign_of_the_comparison(tmp_path: Path) -> None:
    """`ogt` replaces 0.0 by -0.0, and the other way round: the last zero stays."""
    path = tmp_path / "f.mlir"
    path.write_text(ZEROS, encoding="utf-8")
    zeros = np.array([[0.0, -0.0, -1.0], [-0.0, 0.0, -2.0]], np.float32)
    found = pl.compile(str(path), on="riscv").run(A=zeros, C=np.zeros(2, np.float32))
    assert found.verified
    assert np.signbit(found.outputs["C"]).tolist() == [True, False]


ZEROS = """
func.func @f(%A: memref<2x3xf32>, %C: memref<2xf32>) {
  %z = arith.constant 0xFF800000 : f32
  linalg.fill ins(%z : f32) outs(%C : memref<2xf32>)
  affine.for %i = 0 to 2 {
    affine.for %k = 0 to 3 {
      %t = affine.load %C[%i] : memref<2xf32>
      %x = affine.load %A[%i, %k] : memref<2x3xf32>
      %g = arith.cmpf ogt, %t, %x : f32
      %n = arith.cmpf une, %t, %t : f32
      %o = arith.ori %g, %n : i1
      %s = arith.select %o, %t, %x : f32
      affine.store %s, %C[%i] : memref<2xf32>
    }
  }
  return
}
"""


def test_an_unsigned_remainder_of_a_negative_index_wraps_around_the_array(tmp_path: Path) -> None:
    """-1 without sign is 2^64 - 1, whose remainder by 8 is 7."""
    check(
        tmp_path,
        """func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  affine.for %i = 0 to 8 {
    %before = arith.subi %i, %c1 : index
    %p = arith.remui %before, %c8 : index
    %v = memref.load %x[%p] : memref<8xf32>
    affine.store %v, %y[%i] : memref<8xf32>
  }
  return
}
""",
    )


COPY = """func.func @f(%x: memref<4xf32>, %y: memref<?xf32>) {
  %c = memref.cast %x : memref<4xf32> to memref<?xf32>
  memref.copy %c, %y : memref<?xf32> to memref<?xf32>
  return
}
"""


def test_a_copy_gives_an_array_the_extents_of_the_other(tmp_path: Path) -> None:
    nest, reference = read(tmp_path, COPY, "f")
    assert not nest.parameters
    assert_equal(nest, reference, {})


STENCIL = """func.func @f(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
  affine.for %i = 1 to affine_map<(d0) -> (d0 - 1)>(%n) {
    %a = affine.load %x[%i - 1] : memref<?xf32>
    %b = affine.load %x[%i + 1] : memref<?xf32>
    %s = arith.addf %a, %b : f32
    affine.store %s, %y[%i] : memref<?xf32>
  }
  return
}
"""


@pytest.mark.parametrize(("text", "extent"), [(STENCIL, "n"), (STENCIL.replace("(d0 - 1)", "(d0 - 2)"), "n - 2")])
def test_the_result_of_a_stencil_has_the_border_on_both_sides(text: str, extent: str, tmp_path: Path) -> None:
    nest, reference = read(tmp_path, text, "f")
    assert [str(e) for s in nest.storage if s.name == "y" for e in s.shape] == [extent]
    assert_equal(nest, reference, {"n": 6})


def test_a_copy_between_arrays_of_other_extents_is_refused(tmp_path: Path) -> None:
    text = COPY.replace(
        "%y: memref<?xf32>) {", "%z: memref<5xf32>) {\n  %y = memref.cast %z : memref<5xf32> to memref<?xf32>"
    )
    with pytest.raises(PolyloomError, match="PL0176"):
        read(tmp_path, text, "f")


def test_an_array_that_nothing_has_written_is_not_read(tmp_path: Path) -> None:
    """Its elements have any value in MLIR, also where a product begins with them."""
    text = """func.func @f(%x: memref<4x4xi32>, %y: memref<4x4xi32>) -> memref<4x4xi32> {
  %m = memref.alloc() : memref<4x4xi32>
  %r = memref.alloc() : memref<4x4xi32>
  linalg.matmul ins(%x, %y : memref<4x4xi32>, memref<4x4xi32>) outs(%m : memref<4x4xi32>)
  linalg.add ins(%m, %x : memref<4x4xi32>, memref<4x4xi32>) outs(%r : memref<4x4xi32>)
  return %r : memref<4x4xi32>
}
"""
    with pytest.raises(PolyloomError, match="PL0250"):
        read(tmp_path, text, "f", indirect=True)
    zero = "  %c0 = arith.constant 0 : i32\n  linalg.fill ins(%c0 : i32) outs(%m : memref<4x4xi32>)\n"
    filled = text.replace("  linalg.matmul", f"{zero}  linalg.matmul")
    assert_equal(*read(tmp_path, filled, "f", indirect=True), {})

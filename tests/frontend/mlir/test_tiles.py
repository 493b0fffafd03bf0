# SPDX-License-Identifier: Apache-2.0
"""Loops over tiles, packed layouts, softmax, products around zero points, and functions by their formulas: the nest
means what the operations compute, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.frontend.mlir.helpers import assert_equal, read
from tests.libraries.table import possible_sizes

from polyloom.frontend.mlir.evaluate.formulas import evaluate_formula
from polyloom.frontend.mlir.expanded_functions import EXPANDED


def _function(arguments: str, result: str, body: str, value: str = "%r") -> str:
    return f"func.func @f({arguments}) -> {result} {{\n{body}\n  return {value} : {result}\n}}\n"


TEXTS = {
    "forall on tensors": _function(
        "%a: tensor<8x8xf32>, %b: tensor<8x8xf32>",
        "tensor<8x8xf32>",
        """  %e = tensor.empty() : tensor<8x8xf32>
  %r = scf.forall (%i, %j) = (0, 0) to (8, 8) step (4, 4) shared_outs(%o = %e) -> (tensor<8x8xf32>) {
    %s = tensor.extract_slice %a[%i, %j] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
    %t = tensor.extract_slice %b[%i, %j] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
    %u = tensor.extract_slice %o[%i, %j] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
    %v = linalg.add {config = #other.config<[[1, 2]]>} ins(%s, %t : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%u : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %o[%i, %j] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x8xf32>
    }
  } {mapping = [#gpu.block<y>, #gpu.block<x>]}""",
    ),
    "forall on memrefs": """func.func @f(%a: memref<?xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %x = memref.load %a[%i] : memref<?xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %a[%i] : memref<?xf32>
  }
  return
}
""",
    "index switch": """func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {
  %c1 = arith.constant 1.0 : f32
  affine.for %i = 0 to 8 {
    %x = affine.load %a[%i] {from = "k"} : memref<8xf32>
    %s = scf.index_switch %i -> f32
    case 2 {
      %y = arith.addf %x, %c1 : f32
      scf.yield %y : f32
    }
    case 3 {
      scf.yield %c1 : f32
    }
    default {
      scf.yield %x : f32
    }
    affine.store %s, %b[%i] {to = "k"} : memref<8xf32>
  }
  return
}
""",
    "packing with a padding": _function(
        "%a: tensor<10x6xf32>, %p: f32",
        "tensor<3x3x2x4xf32>",
        """  %e = tensor.empty() : tensor<3x3x2x4xf32>
  %r = linalg.pack %a padding_value(%p : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [2, 4]
    into %e : tensor<10x6xf32> -> tensor<3x3x2x4xf32>""",
    ),
    "packing of dynamic extents": _function(
        "%a: tensor<?x?xf32>, %e: tensor<?x?x2x4xf32>",
        "tensor<?x?x2x4xf32>",
        """  %r = linalg.pack %a inner_dims_pos = [1, 0] inner_tiles = [2, 4]
    into %e : tensor<?x?xf32> -> tensor<?x?x2x4xf32>""",
    ),
    "unpacking": _function(
        "%a: tensor<3x3x2x4xf32>",
        "tensor<10x6xf32>",
        """  %e = linalg.init_tensor [10, 6] : tensor<10x6xf32>
  %r = tensor.unpack %a outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [2, 4]
    into %e : tensor<3x3x2x4xf32> -> tensor<10x6xf32>""",
    ),
    "softmax": _function(
        "%a: tensor<3x5xf32>",
        "tensor<3x5xf32>",
        """  %e = tensor.empty() : tensor<3x5xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>""",
    ),
    "product around zero points": _function(
        "%a: tensor<3x4xi8>, %b: tensor<4x5xi8>, %c: tensor<3x5xi32>, %x: i32, %y: i32",
        "tensor<3x5xi32>",
        """  %r = linalg.quantized_matmul ins(%a, %b, %x, %y : tensor<3x4xi8>, tensor<4x5xi8>, i32, i32)
    outs(%c : tensor<3x5xi32>) -> tensor<3x5xi32>""",
    ),
    "contraction": _function(
        "%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, %c: tensor<5x3xf32>",
        "tensor<5x3xf32>",
        """  %r = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
    affine_map<(i, j, k) -> (j, i)>] ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>)
    outs(%c : tensor<5x3xf32>) -> tensor<5x3xf32>""",
    ),
    "product with a constant": _function(
        "%a: tensor<3x4xf32>, %c: tensor<3x5xf32>",
        "tensor<3x5xf32>",
        """  %b = arith.constant dense<2.0> : tensor<4x5xf32>
  %r = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>) outs(%c : tensor<3x5xf32>) -> tensor<3x5xf32>""",
    ),
    "former spellings": _function(
        "%a: tensor<f32>, %m: memref<6xf32>, %b: tensor<4xi8>",
        "tensor<4xi32>",
        """  %e = tensor.expand_shape %a [] : tensor<f32> into tensor<1xf32>
  %n = memref.expand_shape %m [[0, 1]] : memref<6xf32> into memref<2x3xf32>
  %z = arith.constant 0 : index
  %c = arith.constant 1 : index
  %l = tensor.extract %e[%z] : tensor<1xf32>
  %s = scf.for %i = %z to %c step %c iter_args(%v = %l) -> f32 {
    %w = arith.addf %v, %v : f32
    scf.yield %w : f32
  }
  memref.store %s, %n[%c, %c] : memref<2x3xf32>
  %r = arith.extsi %b : tensor<4xi8> to tensor<4xi32>""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_nest_means_what_the_operations_compute(name: str, tmp_path: Path) -> None:
    nest, reference = read(tmp_path, TEXTS[name], "f")
    assert_equal(nest, reference, next(possible_sizes(nest)))


def test_expanded_functions_are_near_those_of_numpy(tmp_path: Path) -> None:
    known = {name.removeprefix("math."): name for name in EXPANDED}
    body = "\n".join(
        f"%{k} = {name} %x : f32\naffine.store %{k}, %r[{n}, %i] : memref<8x9xf32>"
        for n, (k, name) in enumerate(known.items())
    )
    text = f"""func.func @f(%a: memref<9xf32>, %r: memref<8x9xf32>) {{
  affine.for %i = 0 to 9 {{
    %x = affine.load %a[%i] : memref<9xf32>
    {body}
  }}
  return
}}
"""
    nest, reference = read(tmp_path, text, "f")
    assert_equal(nest, reference, {})
    x = np.concatenate([np.linspace(0.01, 3, 99), [1e-6, 1e-4]]).astype(np.float32)
    for name in known.keys() - {"erf"}:
        want = getattr(np, name)(x.astype(np.float64))
        np.testing.assert_allclose(evaluate_formula(EXPANDED[f"math.{name}"], x), want, rtol=1e-6, atol=1e-7)

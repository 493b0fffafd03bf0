# SPDX-License-Identifier: Apache-2.0
"""Modules that are refused, by what is wrong."""

from __future__ import annotations

from typing import Final


def _function(body: str, arguments: str = "%A: memref<8x8xf32>, %B: memref<8xf32>, %n: index") -> str:
    lines = "\n".join(f"  {line}" for line in body.strip().split("\n"))
    return f"func.func @f({arguments}) {{\n{lines}\n  return\n}}\n"


TEXTS: Final[dict[str, str]] = {
    "no MLIR": "void f(void) {}\n",
    "empty": "",
    "cut": "func.func @f(%A: memref<8xf32>) {\n  affine.for %i = 0 to 8 {\n",
    "no word of MLIR": ".func @f() {\n  return\n}\n",
    "cut string": 'func.func @f(%A: memref<8xf32>) {\n  "affine.load',
    "wrong type": _function("%x = arith.constant 1.0 : f32\n%y = arith.addi %x, %x : f32"),
    "undefined value": _function("affine.store %x, %B[0] : memref<8xf32>"),
    "unknown operation": _function('%x = "test.source"() : () -> f32'),
    "unknown dialect": _function("%x = vector.load %B[%n] : memref<8xf32>, vector<4xf32>"),
    "unknown type": _function("// nothing", "%x: !llvm.ptr"),
    "unranked": _function("%r = memref.rank %x : memref<*xf32>", "%x: memref<*xf32>"),
    "unranked tensor": _function("// nothing", "%x: tensor<*xf32>"),
    "wide integers": _function(
        "%x = affine.load %A[0] : memref<8xi64>\naffine.store %x, %A[1] : memref<8xi64>", "%A: memref<8xi64>"
    ),
    "wide arithmetic": _function(
        "%y = arith.addi %x, %x : i64\n%z = arith.sitofp %y : i64 to f32\naffine.store %z, %B[0] : memref<8xf32>",
        "%x: i64, %B: memref<8xf32>",
    ).replace("%x: i64", "%x: i128"),
    "half of bf16": _function(
        "%x = affine.load %A[0] : memref<8xbf16>\naffine.store %x, %A[1] : memref<8xbf16>", "%A: memref<8xbf16>"
    ),
    "vectors": _function("%x = arith.constant dense<1.0> : vector<4xf32>"),
    "layout": _function("// nothing", "%A: memref<8xf32, affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>>").replace(
        "memref<8xf32, affine_map<(d0) ->", "memref<8x8xf32, affine_map<(d0) ->"
    ),
    "product of loops": _function(
        """
affine.for %i = 0 to 2 {
  affine.for %j = 0 to 2 {
    %k = arith.muli %i, %j : index
    %x = memref.load %B[%k] : memref<8xf32>
    memref.store %x, %B[%i] : memref<8xf32>
  }
}"""
    ),
    "semi-affine map": _function("%k = affine.apply affine_map<(d0)[s0] -> (d0 * s0)>(%n)[%n]"),
    "index of data": _function(
        """
affine.for %i = 0 to 8 {
  %k = affine.load %P[%i] : memref<8xindex>
  %x = memref.load %B[%k] : memref<8xf32>
  affine.store %x, %B[%i] : memref<8xf32>
}""",
        "%P: memref<8xindex>, %B: memref<8xf32>",
    ),
    "step of a size": _function(
        """
%c0 = arith.constant 0 : index
%c8 = arith.constant 8 : index
%x = arith.constant 1.0 : f32
scf.for %i = %c0 to %c8 step %n {
  memref.store %x, %B[%i] : memref<8xf32>
}"""
    ),
    "array of data": _function(
        """
affine.for %i = 0 to %n {
  %t = memref.alloc(%i) : memref<?xf32>
  %x = affine.load %B[0] : memref<8xf32>
  affine.store %x, %t[0] : memref<?xf32>
}"""
    ),
    "overlapping copy": _function(
        """
%a = memref.subview %B[0] [7] [1] : memref<8xf32> to memref<7xf32, strided<[1]>>
%b = memref.subview %B[1] [7] [1] : memref<8xf32> to memref<7xf32, strided<[1], offset: 1>>
memref.copy %a, %b : memref<7xf32, strided<[1]>> to memref<7xf32, strided<[1], offset: 1>>"""
    ),
    "overlapping operands": _function(
        "linalg.transpose ins(%A : memref<8x8xf32>) outs(%A : memref<8x8xf32>) permutation = [1, 0]"
    ),
    "extents that differ": _function(
        "linalg.add ins(%B, %B : memref<8xf32>, memref<8xf32>) outs(%C : memref<9xf32>)",
        "%B: memref<8xf32>, %C: memref<9xf32>",
    ),
    "loop without an extent": _function(
        """
linalg.generic {
  indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>], iterator_types = ["parallel", "reduction"]
} outs(%B : memref<8xf32>) {
^bb0(%x: f32):
  linalg.yield %x : f32
}"""
    ),
    "while": _function(
        """
%r = scf.while (%x = %n) : (index) -> index {
  %c = arith.constant true
  scf.condition(%c) %x : index
} do {
^bb0(%y: index):
  scf.yield %y : index
}"""
    ),
    "several blocks": "func.func @f() {\n  %c = arith.constant true\n  return\n^bb1:\n  return\n}\n",
    "recursion": "func.func @f() {\n  func.call @f() : () -> ()\n  return\n}\n",
    "declared only": ("func.func private @g()\nfunc.func @f() {\n  func.call @g() : () -> ()\n  return\n}\n"),
    "several functions": "func.func @g() {\n  return\n}\nfunc.func @h() {\n  return\n}\n",
    "double exponential": _function(
        "%x = affine.load %A[0] : memref<8xf64>\n%y = math.exp %x : f64\naffine.store %y, %A[0] : memref<8xf64>",
        "%A: memref<8xf64>",
    ),
    "power": _function(
        "%x = affine.load %A[0] : memref<8xf32>\n%y = math.powf %x, %x : f32\naffine.store %y, %A[0] : memref<8xf32>",
        "%A: memref<8xf32>",
    ),
    "error function": _function(
        "%x = affine.load %A[0] : memref<8xf32>\n%y = math.erf %x : f32\naffine.store %y, %A[0] : memref<8xf32>",
        "%A: memref<8xf32>",
    ),
    "extent of an attribute": 'func.func @f(%A: memref<?xf32> {polyloom.shape = ["N * M"]}) {\n  return\n}\n',
}

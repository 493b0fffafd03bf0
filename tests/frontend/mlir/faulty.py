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
    "inverse of a function": _function(
        "%x = affine.load %A[0] : memref<8xf32>\n%y = math.atan %x : f32\naffine.store %y, %A[0] : memref<8xf32>",
        "%A: memref<8xf32>",
    ),
    "extent of an attribute": 'func.func @f(%A: memref<?xf32> {polyloom.shape = ["N * M"]}) {\n  return\n}\n',
    "unclosed string": 'func.func @f(%A: memref<8xf32>) {\n  "affine.load (%A) that goes on without an end\n}\n',
    "use before its definition": _function(
        "affine.store %x, %B[1] : memref<8xf32>\n%x = affine.load %B[0] : memref<8xf32>"
    ),
    "use outside of its region": _function(
        """
affine.for %i = 0 to 8 {
  %x = affine.load %B[%i] : memref<8xf32>
}
affine.store %x, %B[0] : memref<8xf32>"""
    ),
    "use within its definition": _function(
        "%r = scf.execute_region -> f32 {\n  scf.yield %r : f32\n}\naffine.store %r, %B[0] : memref<8xf32>"
    ),
    "several blocks of a region": _function(
        "scf.execute_region {\n  scf.yield\n^bb1:\n  scf.yield\n}",
    ),
    "branch without its value": _function(
        """
%c = arith.constant true
%x = arith.constant 1.0 : f32
%r = scf.if %c -> (f32) {
  scf.yield %x : f32
} else {
  scf.yield
}"""
    ),
    "return without its value": "func.func @f(%x: f32) -> f32 {\n  return\n}\n",
    "map of other operands": _function(
        '%x = "affine.load"(%B, %n) {map = affine_map<(d0, d1) -> (d1)>} : (memref<8xf32>, index) -> f32'
    ),
    "extreme of nothing": _function("%k = affine.max affine_map<(d0) -> ()>(%n)"),
    "set without constraints": _function("affine.if affine_set<(d0) : ()>(%n) {\n}"),
    "bounds of other loops": _function("affine.parallel (%i, %j) = (0, 0) to (8) {\n}"),
    "number beyond 64 bits": _function(f"%k = arith.constant 0x{'9' * 30} : index"),
    "product beyond 64 bits": _function(
        """
%a = arith.constant 4294967296 : index
%b = arith.muli %a, %a : index
%x = memref.load %B[%b] : memref<8xf32>
memref.store %x, %B[%b] : memref<8xf32>"""
    ),
    "no predicate": _function('%c = "arith.cmpi"(%n, %n) {predicate = 77 : i64} : (index, index) -> i1'),
    "no permutation": _function(
        "linalg.transpose ins(%A : memref<8x8xf32>) outs(%C : memref<8x8xf32>) permutation = [0, 0]",
        "%A: memref<8x8xf32>, %C: memref<8x8xf32>",
    ),
    "sum over no axis": _function(
        "linalg.reduce { arith.addf } ins(%A : memref<8x8xf32>) outs(%B : memref<8xf32>) dimensions = [2]"
    ),
    "new axis that is none": _function(
        "linalg.broadcast ins(%B : memref<8xf32>) outs(%A : memref<8x8xf32>) dimensions = [2]"
    ),
    "product of one matrix": _function("linalg.matmul ins(%A : memref<8x8xf32>) outs(%A : memref<8x8xf32>)"),
    "product without matrices": _function("linalg.matmul"),
    "product of other ranks": _function(
        "linalg.matmul ins(%A, %B : memref<8x8xf32>, memref<8xf32>) outs(%C : memref<8x8xf32>)",
        "%A: memref<8x8xf32>, %B: memref<8xf32>, %C: memref<8x8xf32>",
    ),
    "strides of other windows": _function(
        "linalg.conv_2d {strides = 3 : i64} ins(%A, %A : memref<8x8xf32>, memref<8x8xf32>) outs(%C : memref<8x8xf32>)",
        "%A: memref<8x8xf32>, %C: memref<8x8xf32>",
    ),
    "sum of other ranks": _function(
        "linalg.add ins(%A, %B : memref<8x8xf32>, memref<8xf32>) outs(%C : memref<8x8xf32>)",
        "%A: memref<8x8xf32>, %B: memref<8xf32>, %C: memref<8x8xf32>",
    ),
    "maps of other operands": _function(
        """
linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
  ins(%B : memref<8xf32>) outs(%B : memref<8xf32>) {
^bb0(%x: f32, %y: f32):
  linalg.yield %x : f32
}"""
    ),
    "body without its element": _function(
        """
linalg.map ins(%B : memref<8xf32>) outs(%B : memref<8xf32>) (%x: f32) {
  linalg.yield
}"""
    ),
    "slice of other ranks": _function("%s = memref.subview %A[0, 0] [8, 8] [1, 1] : memref<8x8xf32> to memref<8xf32>"),
    "groups of other axes": _function(
        "%c = memref.collapse_shape %A [[0, 1, 2]] : memref<8x8xf32> into memref<64xf32>"
    ),
    "extent that is not given": _function("%t = tensor.empty() : tensor<?xf32>"),
    "elements of nothing": _function("%t = tensor.from_elements %x : tensor<0xf32>", "%x: f32"),
    "table of nothing": _function("%t = arith.constant dense<1.0> : tensor<0xf32>"),
    "index of an array": _function("%k = index.casts %A : memref<8x8xf32> to index"),
    "rank of a number": _function("%k = memref.rank %n : index"),
    "operation of other operands": (
        "func.func private @polyloom_min_f32(f32) -> f32\n"
        + _function("%y = func.call @polyloom_min_f32(%x) : (f32) -> f32", "%x: f32")
    ),
    "attributes of other arguments": (
        '"func.func"() <{function_type = (f32) -> (), sym_name = "f", arg_attrs = []}> ({\n'
        "^bb0(%x: f32):\n  func.return\n}) : () -> ()\n"
    ),
    "extents of other axes": 'func.func @f(%A: memref<?x?xf32> {polyloom.shape = ["N"]}) {\n  return\n}\n',
    "size that is assumed alone": (
        'func.func @f(%A: memref<?xf32> {polyloom.shape = ["N"]}) attributes {polyloom.assume = ["M"]} {\n  return\n}\n'
    ),
    "infinite power": _function(
        "%x = affine.load %B[0] : memref<8xf32>\n%c = arith.constant 0x7F800000 : f32\n"
        "%y = math.powf %x, %c : f32\naffine.store %y, %B[0] : memref<8xf32>"
    ),
    "sixty doublings": _function(
        "%x0 = arith.muli %n, %n : index\n"
        + "".join(f"%x{k + 1} = arith.addi %x{k}, %x{k} : index\n" for k in range(60))
        + "%x = memref.load %B[%x60] : memref<8xf32>\nmemref.store %x, %B[%x60] : memref<8xf32>"
    ),
}

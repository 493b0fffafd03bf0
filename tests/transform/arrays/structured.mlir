// SPDX-License-Identifier: Apache-2.0
// Structured operations, each function for one thing that raising recognizes.

func.func @dense(%x: tensor<4x6xf32>, %w: tensor<6x5xf32>, %b: tensor<5xf32>) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x5xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x5xf32>) -> tensor<4x5xf32>
  %sum = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x5xf32>) outs(%init : tensor<4x5xf32>) -> tensor<4x5xf32>
  %relu = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum, %b : tensor<4x5xf32>, tensor<5xf32>) outs(%empty : tensor<4x5xf32>) {
  ^bb0(%in: f32, %c: f32, %out: f32):
    %s = arith.addf %in, %c : f32
    %positive = arith.maximumf %s, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<4x5xf32>
  return %relu : tensor<4x5xf32>
}

func.func @convolution(%x: tensor<1x2x6x6xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x3x4x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x2x6x6xf32>, tensor<3x2x3x3xf32>) outs(%init : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  return %r : tensor<1x3x4x4xf32>
}

func.func @softmax(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %row = tensor.empty() : tensor<3xf32>
  %whole = tensor.empty() : tensor<3x5xf32>
  %i0 = linalg.fill ins(%least : f32) outs(%row : tensor<3xf32>) -> tensor<3xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<3x5xf32>) outs(%i0 : tensor<3xf32>) dimensions = [1]
  %mb = linalg.broadcast ins(%m : tensor<3xf32>) outs(%whole : tensor<3x5xf32>) dimensions = [1]
  %d = linalg.sub ins(%x, %mb : tensor<3x5xf32>, tensor<3x5xf32>) outs(%whole : tensor<3x5xf32>) -> tensor<3x5xf32>
  %e = linalg.exp ins(%d : tensor<3x5xf32>) outs(%whole : tensor<3x5xf32>) -> tensor<3x5xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%row : tensor<3xf32>) -> tensor<3xf32>
  %s = linalg.reduce { arith.addf } ins(%e : tensor<3x5xf32>) outs(%i1 : tensor<3xf32>) dimensions = [1]
  %sb = linalg.broadcast ins(%s : tensor<3xf32>) outs(%whole : tensor<3x5xf32>) dimensions = [1]
  %r = linalg.div ins(%e, %sb : tensor<3x5xf32>, tensor<3x5xf32>) outs(%whole : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// A float sum that begins with elements has one order: its loop stays around the store.
func.func @accumulation(%a: memref<3x4xf32>, %b: memref<4x5xf32>, %c: memref<3x5xf32>) {
  linalg.matmul ins(%a, %b : memref<3x4xf32>, memref<4x5xf32>) outs(%c : memref<3x5xf32>)
  return
}

func.func @padded(%x: tensor<3x4xi32>) -> tensor<5x6xi32> {
  %seven = arith.constant 7 : i32
  %p = tensor.pad %x low[1, 0] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %seven : i32
  } : tensor<3x4xi32> to tensor<5x6xi32>
  %empty = tensor.empty() : tensor<5x6xi32>
  %r = linalg.square ins(%p : tensor<5x6xi32>) outs(%empty : tensor<5x6xi32>) -> tensor<5x6xi32>
  return %r : tensor<5x6xi32>
}

func.func @dot(%x: tensor<7xi32>, %y: tensor<7xi32>, %z: tensor<i32>) -> tensor<i32> {
  %r = linalg.dot ins(%x, %y : tensor<7xi32>, tensor<7xi32>) outs(%z : tensor<i32>) -> tensor<i32>
  return %r : tensor<i32>
}

// Two results of one operation, and a value that both need.
func.func @statistics(%x: tensor<4x6xf32>, %p: tensor<4x6xf32>, %q: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %r:2 = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : tensor<4x6xf32>) outs(%p, %q : tensor<4x6xf32>, tensor<4x6xf32>) {
  ^bb0(%in: f32, %a: f32, %b: f32):
    %e = math.exp %in : f32
    %s = arith.addf %e, %a : f32
    %t = arith.mulf %e, %b : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %r#0, %r#1 : tensor<4x6xf32>, tensor<4x6xf32>
}

func.func @loops(%x: memref<4x4xf32>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 {
      %v = affine.load %x[%i, %j] : memref<4x4xf32>
      %w = arith.addf %v, %v : f32
      affine.store %w, %x[%i, %j] : memref<4x4xf32>
    }
  }
  return
}

// Each element needs the one before, and loops of single elements are no arrays.
func.func @recurrence(%x: memref<8xf32>, %y: memref<8xf32>) {
  affine.for %i = 1 to 8 {
    %v = affine.load %x[%i - 1] : memref<8xf32>
    affine.store %v, %x[%i] : memref<8xf32>
  }
  linalg.copy ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

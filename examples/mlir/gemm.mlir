// The product of two matrices, as loops, and as one operation on arrays.
func.func @gemm(%N: index, %M: index, %K: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  affine.for %i = 0 to %N {
    affine.for %j = 0 to %M {
      %zero = arith.constant 0.0 : f32
      %sum = affine.for %k = 0 to %K iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %A[%i, %k] : memref<?x?xf32>
        %b = affine.load %B[%k, %j] : memref<?x?xf32>
        %p = arith.mulf %a, %b : f32
        %next = arith.addf %acc, %p : f32
        affine.yield %next : f32
      }
      affine.store %sum, %C[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

func.func @matmul(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}

// Integers that wrap, of which none has a sign: a histogram's ranks by shifts, on a triangle of an array.
func.func @stencil(%n: i32, %A: memref<?x?xi32>, %B: memref<?xi32>) -> i32 {
  %N = arith.index_cast %n : i32 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %total = scf.for %i = %c0 to %N step %c1 iter_args(%sum = %zero) -> (i32) {
    %i1 = arith.addi %i, %c1 : index
    %row = scf.for %j = %c0 to %i1 step %c1 iter_args(%s = %sum) -> (i32) {
      %a = memref.load %A[%i, %j] : memref<?x?xi32>
      %two = arith.constant 2 : i32
      %half = arith.shrui %a, %two : i32
      %next = arith.addi %s, %half : i32
      scf.yield %next : i32
    }
    affine.if affine_set<(d0)[s0] : (s0 - d0 - 2 >= 0)>(%i)[%N] {
      memref.store %row, %B[%i] : memref<?xi32>
    }
    scf.yield %row : i32
  }
  return %total : i32
}

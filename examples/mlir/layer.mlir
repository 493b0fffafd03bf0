// A dense layer on tensors: relu(x w + b).
func.func @layer(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>, %b: tensor<16xf32>) -> tensor<8x16xf32> {
  %empty = tensor.empty() : tensor<8x16xf32>
  %start = linalg.broadcast ins(%b : tensor<16xf32>) outs(%empty : tensor<8x16xf32>) dimensions = [0]
  %sum = linalg.matmul ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%start : tensor<8x16xf32>) -> tensor<8x16xf32>
  %zero = arith.constant 0.0 : f32
  %relu = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum : tensor<8x16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %positive = arith.maximumf %in, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<8x16xf32>
  return %relu : tensor<8x16xf32>
}

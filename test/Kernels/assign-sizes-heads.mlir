// RUN: pto-opt %s --assign-sizes | FileCheck %s
// RUN: pto-opt %s --assign-sizes --tile-vector-kernels --bufferize-vector-kernels --convert-linalg-to-pto --build-cube-kernels | FileCheck %s --check-prefix=PTO

// Products whose number is known at run time, three heads of each sentence, read where a projection left them.
// CHECK: #[[PRODUCTS:.*]] = affine_map<()[s0] -> (s0 * 3, 16, 16)>
// CHECK: #[[JOINED:.*]] = affine_map<()[s0] -> (s0, 18, 24)>
// CHECK: func.func private @scores_sized({{.*}}pto.sizes = affine_map<()[s0] -> (s0 * 16, 24)>{{.*}}pto.sizes = #[[PRODUCTS]]
// PTO: func.func private @scores_sized(%{{.*}}: !pto.ptr<f32>, %{{.*}}: !pto.ptr<f32>, %{{.*}}: !pto.ptr<f32>, %[[SCALAR:.*]]: i64)
// PTO: %[[SIZE:.*]] = arith.index_cast %[[SCALAR]] : i64 to index
// PTO: arith.muli %[[SIZE]], %c3
// PTO: pto.tmatmul
func.func private @scores(%q: tensor<64x24xf32>, %k: tensor<64x24xf32>, %y: tensor<12x16x16xf32>) -> tensor<12x16x16xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %zero = arith.constant 0.0 : f32
  %q4 = tensor.expand_shape %q [[0, 1], [2, 3]] output_shape [4, 16, 3, 8] : tensor<64x24xf32> into tensor<4x16x3x8xf32>
  %k4 = tensor.expand_shape %k [[0, 1], [2, 3]] output_shape [4, 16, 3, 8] : tensor<64x24xf32> into tensor<4x16x3x8xf32>
  %e = tensor.empty() : tensor<4x3x16x8xf32>
  %qh = linalg.transpose ins(%q4 : tensor<4x16x3x8xf32>) outs(%e : tensor<4x3x16x8xf32>) permutation = [0, 2, 1, 3]
  %kh = linalg.transpose ins(%k4 : tensor<4x16x3x8xf32>) outs(%e : tensor<4x3x16x8xf32>) permutation = [0, 2, 1, 3]
  %q3 = tensor.collapse_shape %qh [[0, 1], [2], [3]] : tensor<4x3x16x8xf32> into tensor<12x16x8xf32>
  %k3 = tensor.collapse_shape %kh [[0, 1], [2], [3]] : tensor<4x3x16x8xf32> into tensor<12x16x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%y : tensor<12x16x16xf32>) -> tensor<12x16x16xf32>
  %0 = linalg.batch_matmul_transpose_b ins(%q3, %k3 : tensor<12x16x8xf32>, tensor<12x16x8xf32>)
      outs(%init : tensor<12x16x16xf32>) -> tensor<12x16x16xf32>
  return %0 : tensor<12x16x16xf32>
}

// One row per index: the loop ends at the number of indices.
// PTO: func.func private @words_sized(%{{.*}}: !pto.ptr<i32>, %{{.*}}: !pto.ptr<f32>, %{{.*}}: !pto.ptr<f32>, %[[SCALAR:.*]]: i64)
// PTO: %[[SIZE:.*]] = arith.index_cast %[[SCALAR]] : i64 to index
// PTO: %[[COUNT:.*]] = arith.muli %[[SIZE]], %c16
// PTO: scf.for {{.*}} to %[[COUNT]]
func.func private @words(%i: tensor<4x16xi32>, %x: tensor<50x24xf32>, %y: tensor<4x16x24xf32>) -> tensor<4x16x24xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
       ins(%i : tensor<4x16xi32>) outs(%y : tensor<4x16x24xf32>) {
  ^bb0(%a: i32, %b: f32):
    %row = arith.index_cast %a : i32 to index
    %column = linalg.index 2 : index
    %v = tensor.extract %x[%row, %column] : tensor<50x24xf32>
    linalg.yield %v : f32
  } -> tensor<4x16x24xf32>
  return %0 : tensor<4x16x24xf32>
}

// Copies of the rows that there are.
// CHECK: func.func private @joined_sized({{.*}}pto.sizes = #[[JOINED]]
// PTO: func.func private @joined_sized(
// PTO-COUNT-2: pto.tstore
func.func private @joined(%x: tensor<4x16x24xf32>, %z: tensor<4x2x24xf32>, %y: tensor<4x18x24xf32>) -> tensor<4x18x24xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = tensor.concat dim(1) %z, %x : (tensor<4x2x24xf32>, tensor<4x16x24xf32>) -> tensor<4x18x24xf32>
  return %0 : tensor<4x18x24xf32>
}

func.func @main(%i: tensor<4x16xi32> {top.sizes = affine_map<()[s0] -> (s0, 16)>}, %w: tensor<50x24xf32>,
                %z: tensor<4x2x24xf32> {top.sizes = affine_map<()[s0] -> (s0, 2, 24)>})
    -> (tensor<12x16x16xf32> {top.sizes = affine_map<()[s0] -> (s0 * 3, 16, 16)>},
        tensor<4x18x24xf32> {top.sizes = affine_map<()[s0] -> (s0, 18, 24)>})
    attributes {top.symbols = [{name = "batch", least = 1, greatest = 4, multiple = 1}]} {
  %e = tensor.empty() : tensor<4x16x24xf32>
  %e1 = tensor.empty() : tensor<12x16x16xf32>
  %e2 = tensor.empty() : tensor<4x18x24xf32>
  %x = top.launch @words ins(%i, %w : tensor<4x16xi32>, tensor<50x24xf32>) outs(%e : tensor<4x16x24xf32>)
      -> tensor<4x16x24xf32>
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x16x24xf32> into tensor<64x24xf32>
  %0 = top.launch @scores ins(%rows, %rows : tensor<64x24xf32>, tensor<64x24xf32>) outs(%e1 : tensor<12x16x16xf32>)
      -> tensor<12x16x16xf32>
  %1 = top.launch @joined ins(%x, %z : tensor<4x16x24xf32>, tensor<4x2x24xf32>) outs(%e2 : tensor<4x18x24xf32>)
      -> tensor<4x18x24xf32>
  return %0, %1 : tensor<12x16x16xf32>, tensor<4x18x24xf32>
}

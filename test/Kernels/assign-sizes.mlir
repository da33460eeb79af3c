// RUN: pto-opt %s --assign-sizes | FileCheck %s
// RUN: pto-opt %s --assign-sizes --tile-vector-kernels | FileCheck %s --check-prefix=TILED
// RUN: pto-opt %s --assign-sizes --tile-vector-kernels --bufferize-vector-kernels --convert-linalg-to-pto --build-cube-kernels | FileCheck %s --check-prefix=PTO

// CHECK: #[[SCALAR:.*]] = affine_map<()[s0] -> (s0)>

// The kernel of the constant launch stays; the other one takes 12 rows per size.
// CHECK: func.func private @k0(%{{.*}}: tensor<96x40xf32>, %{{.*}}: tensor<96x40xf32>)
// CHECK: func.func private @k0_sized(%{{.*}}: tensor<96x40xf32> {pto.sizes = affine_map<()[s0] -> (s0 * 12, 40)>}, %{{.*}}: tensor<96x40xf32> {pto.sizes = affine_map<()[s0] -> (s0 * 12, 40)>})
// CHECK-SAME: pto.greatest_sizes = array<i64: 8>
// TILED: func.func private @k0_sized
// TILED: %[[SIZE:.*]] = pto.kernel_size 0 greatest 8 : index
// TILED: %[[ROWS:.*]] = affine.apply #{{.*}}()[%[[SIZE]]]
// TILED: scf.for {{.*}} to %[[ROWS]]
// TILED: bufferization.alloc_tensor() copy({{.*}}) {memory_space = #pto.address_space<vec>} : tensor<?xf32>
// PTO: func.func private @k0_sized(%{{.*}}: !pto.ptr<f32>, %{{.*}}: !pto.ptr<f32>, %[[SCALAR:.*]]: i64)
// PTO-NOT: pto.kernel_size
// PTO: arith.index_cast %[[SCALAR]] : i64 to index
func.func private @k0(%x: tensor<96x40xf32>, %y: tensor<96x40xf32>) -> tensor<96x40xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
       ins(%x : tensor<96x40xf32>) outs(%y : tensor<96x40xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<96x40xf32>
  return %0 : tensor<96x40xf32>
}

// Rows of a product.
// PTO: func.func private @k1_sized(%{{.*}}: !pto.ptr<f32>, %{{.*}}: !pto.ptr<f32>, %{{.*}}: !pto.ptr<f32>, %[[SCALAR:.*]]: i64)
// PTO: %[[SIZE:.*]] = arith.index_cast %[[SCALAR]] : i64 to index
// PTO: %[[M:.*]] = arith.muli %[[SIZE]]
// PTO: pto.tmatmul
func.func private @k1(%x: tensor<96x40xf32>, %w: tensor<40x16xf32>, %y: tensor<96x16xf32>) -> tensor<96x16xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%y : tensor<96x16xf32>) -> tensor<96x16xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<96x40xf32>, tensor<40x16xf32>) outs(%init : tensor<96x16xf32>)
      -> tensor<96x16xf32>
  return %0 : tensor<96x16xf32>
}

// CHECK: func.func @main
// CHECK: top.launch @k0 ins(%{{.*}}) outs(%{{.*}}) -> tensor<96x40xf32>
// CHECK: top.launch @k0_sized ins(%{{.*}}) outs(%{{.*}}) {scalars = #[[SCALAR]]} -> tensor<96x40xf32>
// CHECK: top.launch @k1_sized ins(%{{.*}}) outs(%{{.*}}) {scalars = #[[SCALAR]]} -> tensor<96x16xf32>
func.func @main(%x: tensor<8x12x40xf32> {top.sizes = affine_map<()[s0] -> (s0, 12, 40)>}, %c: tensor<96x40xf32>,
                %w: tensor<40x16xf32>)
    -> (tensor<8x12x16xf32> {top.sizes = affine_map<()[s0] -> (s0, 12, 16)>}, tensor<96x40xf32>)
    attributes {top.symbols = [{name = "batch", least = 1, greatest = 8, multiple = 1}]} {
  %e = tensor.empty() : tensor<96x40xf32>
  %e1 = tensor.empty() : tensor<96x16xf32>
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<8x12x40xf32> into tensor<96x40xf32>
  %0 = top.launch @k0 ins(%c : tensor<96x40xf32>) outs(%e : tensor<96x40xf32>) -> tensor<96x40xf32>
  %1 = top.launch @k0 ins(%rows : tensor<96x40xf32>) outs(%e : tensor<96x40xf32>) -> tensor<96x40xf32>
  %2 = top.launch @k1 ins(%1, %w : tensor<96x40xf32>, tensor<40x16xf32>) outs(%e1 : tensor<96x16xf32>)
      -> tensor<96x16xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [8, 12, 16] : tensor<96x16xf32> into tensor<8x12x16xf32>
  return %3, %0 : tensor<8x12x16xf32>, tensor<96x40xf32>
}

// RUN: pto-opt %s --assign-sizes --join-kernels=num-cores=4 | FileCheck %s
// RUN: pto-opt %s --assign-sizes --join-kernels=num-cores=4 --tile-vector-kernels=num-cores=4 --bufferize-vector-kernels --convert-linalg-to-pto=num-cores=4 --build-cube-kernels=num-cores=4 --canonicalize | FileCheck %s --check-prefix=PTO

// Tiles of all rows, and of any number of them, which the panel takes as its size.
// CHECK: top.launch @product_sized_gelu_sized {{.*}}scalars =
// CHECK: func.func private @product_sized_gelu_sized({{.*}}pto.greatest_sizes = array<i64: 64>, pto.handover = {{.*}}rows = array<i64: {{[0-9]+}}, 0>
// CHECK: func.func private @product_sized_gelu_sized.panel(
// CHECK-NOT: pto.greatest_sizes
// CHECK: func.func private @product_sized_gelu_sized.panel1(%{{.*}}: tensor<[[ROWS:[0-9]+]]x{{[0-9]+}}xf32> {pto.sizes = affine_map<()[s0] -> (s0, {{[0-9]+}})>}
// CHECK-SAME: pto.greatest_sizes = array<i64: [[ROWS]]>

// Both functions take the size of the launch; the vector cores choose the panel by the rows of a tile.
// PTO: func.func private @product_sized_gelu_sized({{.*}}, %{{[a-z0-9]*}}: i64)
// PTO: pto.tmatmul
// PTO: func.func private @product_sized_gelu_sized.vector({{.*}}, %{{[a-z0-9]*}}: i64)
// PTO: pto.sync.wait
// PTO: scf.if
// PTO: pto.texp
// PTO: else
// PTO: pto.texp
module attributes {pto.target_arch = "a3"} {
  func.func private @product(%x: tensor<8192x512xf32>, %w: tensor<512x256xf32>, %y: tensor<8192x256xf32>)
      -> tensor<8192x256xf32> attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%y : tensor<8192x256xf32>) -> tensor<8192x256xf32>
    %0 = linalg.matmul ins(%x, %w : tensor<8192x512xf32>, tensor<512x256xf32>) outs(%init : tensor<8192x256xf32>)
        -> tensor<8192x256xf32>
    return %0 : tensor<8192x256xf32>
  }
  func.func private @gelu(%x: tensor<8192x256xf32>, %y: tensor<8192x256xf32>) -> tensor<8192x256xf32>
      attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<8192x256xf32>) outs(%y : tensor<8192x256xf32>) {
    ^bb0(%a: f32, %b: f32):
      %e = math.exp %a : f32
      %s = arith.addf %e, %a : f32
      %m = arith.mulf %s, %e : f32
      linalg.yield %m : f32
    } -> tensor<8192x256xf32>
    return %0 : tensor<8192x256xf32>
  }
  func.func @main(%x: tensor<64x128x512xf32> {top.sizes = affine_map<()[s0] -> (s0, 128, 512)>}, %w: tensor<512x256xf32>)
      -> (tensor<8192x256xf32> {top.sizes = affine_map<()[s0] -> (s0 * 128, 256)>})
      attributes {top.symbols = [{name = "batch", least = 1, greatest = 64, multiple = 1}]} {
    %e = tensor.empty() : tensor<8192x256xf32>
    %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<64x128x512xf32> into tensor<8192x512xf32>
    %0 = top.launch @product ins(%rows, %w : tensor<8192x512xf32>, tensor<512x256xf32>) outs(%e : tensor<8192x256xf32>)
        -> tensor<8192x256xf32>
    %1 = top.launch @gelu ins(%0 : tensor<8192x256xf32>) outs(%e : tensor<8192x256xf32>) -> tensor<8192x256xf32>
    return %1 : tensor<8192x256xf32>
  }
}

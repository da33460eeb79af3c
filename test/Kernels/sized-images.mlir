// RUN: pto-opt %s --assign-sizes --tile-vector-kernels=num-cores=1 --build-cube-kernels=num-cores=1 \
// RUN: | FileCheck %s

// Convolutions and windows over images whose number is known at run time: loops over images end at the size.

module attributes {pto.target_arch = "a3"} {
func.func @main(%x: tensor<8x6x6x8xf32> {top.sizes = affine_map<()[s0] -> (s0, 6, 6, 8)>}, %w: tensor<3x3x8x4xf32>)
    -> (tensor<8x2x2x4xf32> {top.sizes = affine_map<()[s0] -> (s0, 2, 2, 4)>})
    attributes {top.symbols = [{name = "n", least = 1, greatest = 8, multiple = 1}]} {
  %e = tensor.empty() : tensor<8x4x4x4xf32>
  // CHECK: top.launch @images_sized {{.*}}scalars = #[[SCALARS:.*]]}
  %0 = top.launch @images ins(%x, %w : tensor<8x6x6x8xf32>, tensor<3x3x8x4xf32>) outs(%e : tensor<8x4x4x4xf32>)
      -> tensor<8x4x4x4xf32>
  %e1 = tensor.empty() : tensor<8x2x2x4xf32>
  %1 = top.launch @windows ins(%0 : tensor<8x4x4x4xf32>) outs(%e1 : tensor<8x2x2x4xf32>) -> tensor<8x2x2x4xf32>
  return %1 : tensor<8x2x2x4xf32>
}

// CHECK-LABEL: func.func private @images_sized
// CHECK-SAME: %[[SIZE:[a-z0-9]+]]: i64) attributes
// CHECK: %[[N:.*]] = arith.index_cast %[[SIZE]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
// CHECK: pto.timg2col
func.func private @images(%x: tensor<8x6x6x8xf32>, %w: tensor<3x3x8x4xf32>, %y: tensor<8x4x4x4xf32>)
    -> tensor<8x4x4x4xf32> attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%y : tensor<8x4x4x4xf32>) -> tensor<8x4x4x4xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<8x6x6x8xf32>, tensor<3x3x8x4xf32>)
      outs(%init : tensor<8x4x4x4xf32>) -> tensor<8x4x4x4xf32>
  return %0 : tensor<8x4x4x4xf32>
}

// CHECK-LABEL: func.func private @windows_sized
// CHECK: %[[N:.*]] = pto.kernel_size 0 greatest 8
// CHECK: scf.for %[[IMAGE:.*]] = %{{.*}} to %[[N]]
// CHECK: tensor.extract_slice %{{.*}}[%[[IMAGE]], %{{.*}}, 0, 0] [1, 1, 2, 4] [1, 1, 2, 1] : tensor<?x4x4x4xf32>
func.func private @windows(%x: tensor<8x4x4x4xf32>, %y: tensor<8x2x2x4xf32>) -> tensor<8x2x2x4xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %least = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%least : f32) outs(%y : tensor<8x2x2x4xf32>) -> tensor<8x2x2x4xf32>
  %0 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x, %window : tensor<8x4x4x4xf32>, tensor<2x2xf32>) outs(%init : tensor<8x2x2x4xf32>) -> tensor<8x2x2x4xf32>
  return %0 : tensor<8x2x2x4xf32>
}
}

// RUN: pto-opt --top-infer-shapes %s | FileCheck %s

// CHECK: func.func @main(%[[X:.*]]: tensor<3x4x8x8xf32>, %[[F:.*]]: tensor<6x4x3x3xf32>) -> tensor<3x6x4x4xf32>
func.func @main(%x: tensor<3x4x8x8xf32>, %f: tensor<6x4x3x3xf32>) -> tensor<3x6x4x4xf32> {
  // CHECK: top.conv {{.*}} -> tensor<3x6x4x4xf32>
  %0 = top.conv %x, %f {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
    : (tensor<3x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<3x6x4x4xf32>
  return %0 : tensor<3x6x4x4xf32>
}

// RUN: pto-opt %s --top-layout | FileCheck %s

// Images of any width: columns stand outside of rows, and the attributes of what slides over them are swapped.
// CHECK: %[[X:.*]] = top.permute %arg0 {perm = array<i64: 0, 3, 2, 1>} : (tensor<1x3x16x40xf32>) -> tensor<1x40x16x3xf32>
// CHECK: %[[C:.*]] = top.conv %[[X]], {{.*}}layout = "NHWC"
// CHECK-SAME: pads = array<i64: 2, 1, 2, 0>, strides = array<i64: 1, 2>
// CHECK-SAME: -> tensor<1x40x8x4xf32>
// CHECK: %[[R:.*]] = top.relu %[[C]] : (tensor<1x40x8x4xf32>)
// CHECK: %[[P:.*]] = top.max_pool %[[R]] {{.*}}kernel = array<i64: 1, 2>
// CHECK-SAME: -> tensor<1x40x4x4xf32>
// CHECK: top.permute %[[P]] {perm = array<i64: 0, 3, 2, 1>} : (tensor<1x40x4x4xf32>) -> tensor<1x4x4x40xf32>
module {
func.func @main(%x: tensor<1x3x16x40xf32> {top.sizes = affine_map<()[s0] -> (1, 3, 16, s0)>}, %w: tensor<4x3x2x5xf32>)
    -> (tensor<1x4x4x40xf32> {top.sizes = affine_map<()[s0] -> (1, 4, 4, s0)>})
    attributes {top.symbols = [{name = "w", least = 8, greatest = 40, multiple = 1}]} {
  %c = top.conv %x, %w {strides = array<i64: 2, 1>, pads = array<i64: 1, 2, 0, 2>, dilations = array<i64: 1, 1>}
      : (tensor<1x3x16x40xf32>, tensor<4x3x2x5xf32>) -> tensor<1x4x8x40xf32>
  %r = top.relu %c : (tensor<1x4x8x40xf32>) -> tensor<1x4x8x40xf32>
  %p = top.max_pool %r {kernel = array<i64: 2, 1>, strides = array<i64: 2, 1>, pads = array<i64: 0, 0, 0, 0>,
                        dilations = array<i64: 1, 1>} : (tensor<1x4x8x40xf32>) -> tensor<1x4x4x40xf32>
  return %p : tensor<1x4x4x40xf32>
}
}

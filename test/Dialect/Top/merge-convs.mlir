// RUN: pto-opt %s --top-merge-convs | FileCheck %s

// The concatenated one stands last, and the concatenation takes all of them; a convolution of another stride stays.
// CHECK-LABEL: func.func @branches
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[\[\[}}2.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00, 1.000000e+00, {{.*}}1.000000e+00]]]]> : tensor<1x1x1x16xf32>
// CHECK: %[[B:.*]] = arith.constant dense<[4.000000e+00, {{.*}}4.000000e+00, 3.000000e+00, {{.*}}3.000000e+00]> : tensor<16xf32>
// CHECK: %[[C:.*]] = top.conv %arg0, %[[W]], %[[B]] {{.*}} -> tensor<1x4x4x16xf32>
// CHECK: %[[R:.*]] = top.relu %[[C]]
// CHECK: %[[SECOND:.*]] = top.slice %[[R]] {ends = array<i64: 1, 4, 4, 8>, starts = array<i64: 0, 0, 0, 0>
// CHECK: top.conv %arg0, %{{.*}} strides = array<i64: 2, 2>
// CHECK: %[[D:.*]] = top.conv %[[SECOND]]
// CHECK: %[[ALL:.*]] = top.concat %[[R]], %[[D]] {axis = 3 : i64} : (tensor<1x4x4x16xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x24xf32>
// CHECK: %[[Y:.*]] = top.slice %[[ALL]] {ends = array<i64: 1, 4, 4, 24>, starts = array<i64: 0, 0, 0, 8>
// CHECK: top.max_pool %[[Y]]
func.func @branches(%x: tensor<1x4x4x1xf32>) -> (tensor<1x2x2x16xf32>, tensor<1x2x2x8xf32>) {
  %wa = arith.constant dense<1.0> : tensor<1x1x1x8xf32>
  %ba = arith.constant dense<3.0> : tensor<8xf32>
  %wb = arith.constant dense<2.0> : tensor<1x1x1x8xf32>
  %wd = arith.constant dense<5.0> : tensor<1x1x8x8xf32>
  %bb = arith.constant dense<4.0> : tensor<8xf32>
  %a = top.conv %x, %wa, %ba {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x8xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf32>
  %ra = top.relu %a : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %s = top.conv %x, %wa, %ba {layout = "NHWC", strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x8xf32>, tensor<8xf32>) -> tensor<1x2x2x8xf32>
  %b = top.conv %x, %wb, %bb {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x8xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf32>
  %rb = top.relu %b : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %d = top.conv %rb, %wd {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x4x4x8xf32>
  %c = top.concat %ra, %d {axis = 3 : i64} : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x16xf32>
  %y = top.max_pool %c {layout = "NHWC", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x16xf32>) -> tensor<1x2x2x16xf32>
  return %y, %s : tensor<1x2x2x16xf32>, tensor<1x2x2x8xf32>
}

// The last operands of a concatenation stand first.
// CHECK-LABEL: func.func @behind
// CHECK: %[[C:.*]] = top.conv %arg0, {{.*}} -> tensor<1x4x4x16xf32>
// CHECK: %[[B:.*]] = top.slice %[[C]] {ends = array<i64: 1, 4, 4, 16>, starts = array<i64: 0, 0, 0, 8>
// CHECK: %[[ALL:.*]] = top.concat %arg1, %[[C]]
// CHECK: top.slice %[[ALL]] {ends = array<i64: 1, 4, 4, 16>, starts = array<i64: 0, 0, 0, 0>
func.func @behind(%x: tensor<1x4x4x1xf32>, %z: tensor<1x4x4x8xf32>) -> (tensor<1x2x2x16xf32>, tensor<1x4x4x8xf32>) {
  %wa = arith.constant dense<1.0> : tensor<1x1x1x8xf32>
  %wd = arith.constant dense<5.0> : tensor<1x1x8x8xf32>
  %a = top.conv %x, %wa {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
  %b = top.conv %x, %wa {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
  %d = top.conv %b, %wd {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x4x4x8xf32>
  %c = top.concat %z, %a {axis = 3 : i64} : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x16xf32>
  %y = top.max_pool %c {layout = "NHWC", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x16xf32>) -> tensor<1x2x2x16xf32>
  return %y, %d : tensor<1x2x2x16xf32>, tensor<1x4x4x8xf32>
}

// Results that something else reads, an output or an elementwise op, rows that begin at no multiple of 32 bytes, and
// another activation: each its own.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-5: top.conv %arg0
// CHECK-NOT: top.slice
func.func @apart(%x: tensor<1x4x4x1xf32>) -> (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) {
  %w = arith.constant dense<1.0> : tensor<1x1x1x8xf32>
  %narrow = arith.constant dense<1.0> : tensor<1x1x1x4xf32>
  %v = arith.constant dense<5.0> : tensor<1x1x8x8xf32>
  %vn = arith.constant dense<5.0> : tensor<1x1x4x8xf32>
  %a = top.conv %x, %w {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
  %b = top.conv %x, %w {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
  %eb = top.exp %b : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %c = top.conv %x, %narrow {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x4xf32>) -> tensor<1x4x4x4xf32>
  %cc = top.conv %c, %vn {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<1x1x4x8xf32>) -> tensor<1x4x4x8xf32>
  %d = top.conv %x, %w {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
  %dd = top.conv %d, %v {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x4x4x8xf32>
  %e = top.conv %x, %w {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
  %re = top.relu %e : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %ee = top.conv %re, %v {layout = "NHWC", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x4x4x8xf32>
  return %a, %eb, %cc, %dd, %ee : tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>
}

// RUN: pto-opt %s --split-input-file --top-layout --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Constants are permuted; permutes are sunk through elementwise ops, cancel between
// two convolutions and remain at the boundary of the net.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<1x2x4x4xf32>
// CHECK-DAG: %[[BIAS:.*]] = arith.constant dense<{{\[\[\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00]]]]> : tensor<1x1x1x3xf32>
// CHECK-DAG: %[[W0:.*]] = arith.constant dense<{{.*}}> : tensor<1x1x2x3xf32>
// CHECK-DAG: %[[W1:.*]] = arith.constant dense<{{.*}}> : tensor<3x3x1x3xf32>
// CHECK: %[[P:.*]] = top.permute %[[X]] {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[C:.*]] = top.conv %[[P]], %[[W0]] {{.*}}layout = "NHWC"{{.*}} -> tensor<1x4x4x3xf32> loc(fused<"NHWC">["conv"])
// CHECK: %[[A:.*]] = top.add %[[C]], %[[BIAS]] {{.*}} loc(fused<"NHWC">["add"])
// CHECK: %[[R:.*]] = top.relu %[[A]] {{.*}} loc(fused<"NHWC">["relu"])
// CHECK: %[[D:.*]] = top.conv %[[R]], %[[W1]] {{.*}}group = 3 : i64, layout = "NHWC"{{.*}} -> tensor<1x4x4x3xf32>
// CHECK: %[[Y:.*]] = top.permute %[[D]] {perm = array<i64: 0, 3, 1, 2>} {{.*}} loc("dw")
// CHECK: return %[[Y]]
func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x3x4x4xf32> {
  %w0 = arith.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[5.0]], [[6.0]]]]> : tensor<3x2x1x1xf32>
  %b = arith.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %w1 = arith.constant dense<0.5> : tensor<3x1x3x3xf32>
  %0 = top.conv %x, %w0 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32> loc("conv")
  %1 = top.add %0, %b : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32> loc("add")
  %2 = top.relu %1 : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("relu")
  %3 = top.conv %2, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 3} : (tensor<1x3x4x4xf32>, tensor<3x1x3x3xf32>) -> tensor<1x3x4x4xf32> loc("dw")
  return %3 : tensor<1x3x4x4xf32>
}

// -----

// Axes follow the dimensions; a permute of unit dimensions is a reshape.
// CHECK-LABEL: func.func @main
// CHECK: %[[M:.*]] = top.max_pool {{.*}} -> tensor<3x2x2x5xf32>
// CHECK: %[[S:.*]] = top.softmax %[[M]] {axis = 3 : i64}
// CHECK: %[[C:.*]] = top.concat %[[S]], %[[M]] {axis = 3 : i64} {{.*}} -> tensor<3x2x2x10xf32>
// CHECK: %[[L:.*]] = top.slice %[[C]] {ends = array<i64: 3, 2, 2, 7>, starts = array<i64: 0, 0, 0, 2>, steps = array<i64: 1, 1, 1, 1>}
// CHECK: %[[P:.*]] = top.pad %[[L]] {pads = array<i64: 0, 1, 2, 0, 0, 3, 4, 0>}
// CHECK: %[[G:.*]] = top.reduce_mean %[[P]] {axes = array<i64: 1, 2>} {{.*}} -> tensor<3x1x1x5xf32>
// CHECK: %[[Y:.*]] = top.reshape %[[G]] {shape = array<i64: 3, 5>}
// CHECK: return %[[Y]]
func.func @main(%x: tensor<3x5x4x4xf32>) -> tensor<3x5xf32> {
  %0 = top.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x5x4x4xf32>) -> tensor<3x5x2x2xf32>
  %1 = top.softmax %0 {axis = 1} : (tensor<3x5x2x2xf32>) -> tensor<3x5x2x2xf32>
  %2 = top.concat %1, %0 {axis = 1} : (tensor<3x5x2x2xf32>, tensor<3x5x2x2xf32>) -> tensor<3x10x2x2xf32>
  %3 = top.slice %2 {starts = array<i64: 0, 2, 0, 0>, ends = array<i64: 3, 7, 2, 2>, steps = array<i64: 1, 1, 1, 1>} : (tensor<3x10x2x2xf32>) -> tensor<3x5x2x2xf32>
  %4 = top.pad %3 {pads = array<i64: 0, 0, 1, 2, 0, 0, 3, 4>} : (tensor<3x5x2x2xf32>) -> tensor<3x5x6x8xf32>
  %5 = top.reduce_mean %4 {axes = array<i64: 2, 3>} : (tensor<3x5x6x8xf32>) -> tensor<3x5x1x1xf32>
  %6 = top.reshape %5 {shape = array<i64: 3, 5>} : (tensor<3x5x1x1xf32>) -> tensor<3x5xf32>
  return %6 : tensor<3x5xf32>
}

// -----

// A reshape that mixes dimensions requires ONNX's order.
// CHECK-LABEL: func.func @main
// CHECK: %[[M:.*]] = top.max_pool
// CHECK: %[[P:.*]] = top.permute %[[M]] {perm = array<i64: 0, 3, 1, 2>}
// CHECK: top.reshape %[[P]]
func.func @main(%x: tensor<3x5x4x4xf32>) -> tensor<3x20xf32> {
  %0 = top.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x5x4x4xf32>) -> tensor<3x5x2x2xf32>
  %1 = top.reshape %0 {shape = array<i64: 3, 20>} : (tensor<3x5x2x2xf32>) -> tensor<3x20xf32>
  return %1 : tensor<3x20xf32>
}

// -----

// A transposed filter is permuted [I, O, kernel..] -> [kernel.., I, O]; sizes and scales follow the dimensions.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[\[}}1.000000e+00, 3.000000e+00]], {{\[\[}}2.000000e+00, 4.000000e+00]]]]> : tensor<1x2x1x2xf32>
// CHECK: %[[C:.*]] = top.conv_transpose %{{.*}}, %[[W]] {{.*}}layout = "NHWC"{{.*}} -> tensor<1x3x8x2xf32> loc(fused<"NHWC">["up"])
// CHECK: top.resize %[[C]] {mode = "linear", scales = array<f64: 1.000000e+00, 2.000000e+00, 5.000000e-01, 1.000000e+00>, sizes = array<i64: 1, 6, 4, 2>} {{.*}} loc(fused<"NHWC">["size"])
func.func @main(%x: tensor<1x1x3x4xf32>) -> tensor<1x2x6x4xf32> {
  %w = arith.constant dense<[[[[1.0, 2.0]], [[3.0, 4.0]]]]> : tensor<1x2x1x2xf32>
  %0 = top.conv_transpose %x, %w {strides = array<i64: 1, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x1x3x4xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x3x8xf32> loc("up")
  %1 = top.resize %0 {sizes = array<i64: 1, 2, 6, 4>, scales = array<f64: 1.0, 1.0, 2.0, 0.5>, mode = "linear"} : (tensor<1x2x3x8xf32>) -> tensor<1x2x6x4xf32> loc("size")
  return %1 : tensor<1x2x6x4xf32>
}

// -----

// Permutes of one element pass operations, too.
// CHECK-LABEL: func.func @one_element
// CHECK: top.avg_pool {{.*}} -> tensor<1x1x1xf32>
// CHECK-NEXT: top.mul
// CHECK-NEXT: top.sqrt
func.func @one_element(%x: tensor<1x1x10xf32>) -> tensor<1x1x1xf32> {
  %c = arith.constant dense<1.000000e+01> : tensor<f32>
  %0 = top.avg_pool %x {count_include_pad = true, dilations = array<i64: 1>, kernel = array<i64: 10>, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x1x10xf32>) -> tensor<1x1x1xf32>
  %1 = top.mul %0, %c : (tensor<1x1x1xf32>, tensor<f32>) -> tensor<1x1x1xf32>
  %2 = top.sqrt %1 : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %2 : tensor<1x1x1xf32>
}

// -----

// Permutes of the model cancel behind a residual sum, too: the sum is channels-last. A tensor that only ONNX's order has
// is absorbed; one without a name takes it.
// CHECK: module attributes {top.absorbed = ["first"]}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x4x4x3xf32>
// CHECK: %[[E:.*]] = top.exp %[[X]] {{.*}} loc("exp")
// CHECK: %[[N:.*]] = top.neg %[[E]] {{.*}} loc(fused<"NHWC">["second"])
// CHECK: %[[A:.*]] = top.add %[[E]], %[[N]] {{.*}} -> tensor<1x4x4x3xf32> loc(fused<"NHWC">["sum"])
// CHECK: %[[P:.*]] = top.max_pool %[[A]]
// CHECK: top.permute %[[P]] {perm = array<i64: 0, 3, 1, 2>}
module {
  func.func @main(%x: tensor<1x4x4x3xf32>) -> tensor<1x3x2x2xf32> {
    %0 = top.exp %x : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> loc("exp")
    %1 = top.permute %0 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32> loc("first")
    %2 = top.neg %0 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> loc(unknown)
    %3 = top.permute %2 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32> loc("second")
    %4 = top.add %1, %3 : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("sum")
    %5 = top.max_pool %4 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x2x2xf32> loc("pool")
    return %5 : tensor<1x3x2x2xf32>
  }
}

// -----

// A sequence of patches becomes an image again without a permute.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x16x3xf32>
// CHECK: %[[I:.*]] = top.reshape %[[X]] {shape = array<i64: 1, 4, 4, 3>}
// CHECK: %[[P:.*]] = top.max_pool %[[I]]
// CHECK: %[[S:.*]] = top.reshape %[[P]] {shape = array<i64: 1, 4, 3>}
// CHECK: return %[[S]]
func.func @main(%x: tensor<1x16x3xf32>) -> tensor<1x4x3xf32> {
  %0 = top.permute %x {perm = array<i64: 0, 2, 1>} : (tensor<1x16x3xf32>) -> tensor<1x3x16xf32>
  %1 = top.reshape %0 {shape = array<i64: 1, 3, 4, 4>} : (tensor<1x3x16xf32>) -> tensor<1x3x4x4xf32>
  %2 = top.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x2x2xf32>
  %3 = top.reshape %2 {shape = array<i64: 1, 3, 4>} : (tensor<1x3x2x2xf32>) -> tensor<1x3x4xf32>
  %4 = top.permute %3 {perm = array<i64: 0, 2, 1>} : (tensor<1x3x4xf32>) -> tensor<1x4x3xf32>
  return %4 : tensor<1x4x3xf32>
}

// -----

// Without a permute to cancel, one of the model stays in its place.
// CHECK-LABEL: func.func @stays
// CHECK: %[[P:.*]] = top.permute %{{.*}} {{.*}} loc("kept")
// CHECK: %[[R:.*]] = top.relu %[[P]]
// CHECK: return %[[R]]
func.func @stays(%x: tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32> {
  %0 = top.permute %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32> loc("kept")
  %1 = top.relu %0 : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  return %1 : tensor<1x3x4x4xf32>
}

// -----

// Permutes of no, one and two dimensions are no images.
// CHECK-LABEL: func.func @few_dimensions
// CHECK: top.permute %{{.*}} {perm = array<i64: 1, 0>}
func.func @few_dimensions(%x: tensor<f32>, %y: tensor<3xf32>, %z: tensor<3x2xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<2x3xf32>) {
  %0 = top.permute %x {perm = array<i64>} : (tensor<f32>) -> tensor<f32>
  %1 = top.permute %y {perm = array<i64: 0>} : (tensor<3xf32>) -> tensor<3xf32>
  %2 = top.permute %z {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<f32>, tensor<3xf32>, tensor<2x3xf32>
}

// -----

// Of two convolutions over three dimensions, whose first one is part of the batch (top-decompose), what stands between
// them is channels-last: the ways from and to the batch are reshapes.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = top.conv {{.*}} -> tensor<4x5x6x3xf32>
// CHECK: %[[D:.*]] = top.reshape %[[A]] {shape = array<i64: 2, 2, 5, 6, 3>} {{.*}} loc(fused<"NHWC">["first"])
// CHECK: %[[R:.*]] = top.relu %[[D]] {{.*}} -> tensor<2x2x5x6x3xf32>
// CHECK: %[[P:.*]] = top.pad %[[R]] {pads = array<i64: 0, 1, 0, 0, 0, 0, 0, 0, 0, 0>} {{.*}} -> tensor<2x3x5x6x3xf32>
// CHECK: %[[B:.*]] = top.reshape %[[P]] {shape = array<i64: 6, 5, 6, 3>}
// CHECK: %[[C:.*]] = top.conv %[[B]], {{.*}} -> tensor<6x5x6x2xf32>
// CHECK: %[[E:.*]] = top.reshape %[[C]] {shape = array<i64: 2, 3, 5, 6, 2>}
// CHECK: %[[Y:.*]] = top.permute %[[E]] {perm = array<i64: 0, 4, 1, 2, 3>} {{.*}} loc("second")
// CHECK: return %[[Y]]
func.func @main(%x: tensor<4x2x5x6xf32>) -> tensor<2x2x3x5x6xf32> {
  %w0 = arith.constant dense<0.5> : tensor<3x2x1x1xf32>
  %w1 = arith.constant dense<0.5> : tensor<2x3x1x1xf32>
  %0 = top.conv %x, %w0 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<4x2x5x6xf32>, tensor<3x2x1x1xf32>) -> tensor<4x3x5x6xf32>
  %1 = top.reshape %0 {shape = array<i64: 2, 2, 3, 5, 6>} : (tensor<4x3x5x6xf32>) -> tensor<2x2x3x5x6xf32>
  %2 = top.permute %1 {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<2x2x3x5x6xf32>) -> tensor<2x3x2x5x6xf32> loc("first")
  %3 = top.relu %2 : (tensor<2x3x2x5x6xf32>) -> tensor<2x3x2x5x6xf32> loc("relu")
  %4 = top.pad %3 {pads = array<i64: 0, 0, 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x2x5x6xf32>) -> tensor<2x3x3x5x6xf32>
  %5 = top.permute %4 {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<2x3x3x5x6xf32>) -> tensor<2x3x3x5x6xf32>
  %6 = top.reshape %5 {shape = array<i64: 6, 3, 5, 6>} : (tensor<2x3x3x5x6xf32>) -> tensor<6x3x5x6xf32>
  %7 = top.conv %6, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<6x3x5x6xf32>, tensor<2x3x1x1xf32>) -> tensor<6x2x5x6xf32>
  %8 = top.reshape %7 {shape = array<i64: 2, 3, 2, 5, 6>} : (tensor<6x2x5x6xf32>) -> tensor<2x3x2x5x6xf32>
  %9 = top.permute %8 {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<2x3x2x5x6xf32>) -> tensor<2x2x3x5x6xf32> loc("second")
  return %9 : tensor<2x2x3x5x6xf32>
}

// -----

// The model's way out of windows of an image, to channels first, is one of the spatial dimensions and the pass's own,
// which sinks through the reshape and the relu and cancels.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = top.permute %{{.*}} {perm = array<i64: 0, 1, 3, 2, 4, 5>} {{.*}} -> tensor<1x2x3x2x3x4xf32> loc(fused<"NHWC">["out"])
// CHECK: %[[R:.*]] = top.reshape %[[P]] {shape = array<i64: 1, 6, 6, 4>}
// CHECK: %[[L:.*]] = top.relu %[[R]]
// CHECK: top.conv %[[L]], {{.*}} -> tensor<1x6x6x2xf32>
func.func @main(%x: tensor<1x2x2x3x3x4xf32>) -> tensor<1x2x6x6xf32> {
  %w = arith.constant dense<0.5> : tensor<2x4x1x1xf32>
  %0 = top.permute %x {perm = array<i64: 0, 5, 1, 3, 2, 4>} : (tensor<1x2x2x3x3x4xf32>) -> tensor<1x4x2x3x2x3xf32> loc("out")
  %1 = top.reshape %0 {shape = array<i64: 1, 4, 6, 6>} : (tensor<1x4x2x3x2x3xf32>) -> tensor<1x4x6x6xf32>
  %2 = top.relu %1 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %3 = top.conv %2, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x6x6xf32>
  return %3 : tensor<1x2x6x6xf32>
}

// -----

// Two permutes around a reshape that merges dimensions are one.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4x5xf32>
// CHECK-NEXT: %[[P:.*]] = top.permute %[[X]] {perm = array<i64: 1, 3, 0, 2>}
// CHECK-NEXT: %[[R:.*]] = top.reshape %[[P]] {shape = array<i64: 15, 2, 4>} {{.*}} loc("y")
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3x4x5xf32>) -> tensor<15x2x4xf32> {
  %0 = top.permute %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = top.reshape %0 {shape = array<i64: 2, 4, 15>} : (tensor<2x4x3x5xf32>) -> tensor<2x4x15xf32>
  %2 = top.permute %1 {perm = array<i64: 2, 0, 1>} : (tensor<2x4x15xf32>) -> tensor<15x2x4xf32> loc("y")
  return %2 : tensor<15x2x4xf32>
}

// -----

// A reshape that cuts across the dimensions stays between its permutes.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: top.permute
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = top.permute %x {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = top.reshape %0 {shape = array<i64: 4, 6>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %2 = top.reshape %1 {shape = array<i64: 6, 4>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %3 = top.reshape %2 {shape = array<i64: 8, 3>} : (tensor<6x4xf32>) -> tensor<8x3xf32>
  %4 = top.permute %3 {perm = array<i64: 1, 0>} : (tensor<8x3xf32>) -> tensor<3x8xf32>
  %5 = top.reshape %4 {shape = array<i64: 4, 6>} : (tensor<3x8xf32>) -> tensor<4x6xf32>
  return %5 : tensor<4x6xf32>
}

// RUN: pto-opt %s --top-decompose --top-fold --split-input-file | FileCheck %s
// RUN: pto-opt %s --top-decompose="max-window=4 max-pool-pixels=8" --top-fold --split-input-file | FileCheck %s --check-prefix=SMALL

// Three taps in the first dimension become channels; its four positions part of the batch.
// CHECK-LABEL: @conv_3d
// CHECK: top.pad %{{.*}} {pads = array<i64: 0, 0, 1, 0, 0, 0, 0, 1, 0, 0>
// CHECK: top.concat {{.*}} {axis = 1 : i64} {{.*}} -> tensor<1x6x4x5x6xf32>
// CHECK: top.conv {{.*}} (tensor<4x6x5x6xf32>, tensor<7x6x3x3xf32>, tensor<7xf32>) -> tensor<4x7x3x4xf32>
// CHECK: top.permute {{.*}} -> tensor<1x7x4x3x4xf32>
func.func @conv_3d(%x: tensor<1x2x4x5x6xf32>, %w: tensor<7x2x3x3x3xf32>, %b: tensor<7xf32>) -> tensor<1x7x4x3x4xf32> {
  %f = arith.constant dense<1.0> : tensor<7x2x3x3x3xf32>
  %0 = top.conv %x, %f, %b {strides = array<i64: 1, 1, 1>, pads = array<i64: 1, 0, 0, 1, 0, 0>, dilations = array<i64: 1, 1, 1>}
    : (tensor<1x2x4x5x6xf32>, tensor<7x2x3x3x3xf32>, tensor<7xf32>) -> tensor<1x7x4x3x4xf32>
  return %0 : tensor<1x7x4x3x4xf32>
}

// -----

// CHECK-LABEL: @conv_transpose_3d
// CHECK: top.conv_transpose {{.*}} (tensor<7x9x2x2xf32>, tensor<9x4x2x2xf32>) -> tensor<7x4x3x3xf32>
func.func @conv_transpose_3d(%x: tensor<1x3x3x2x2xf32>) -> tensor<1x4x7x3x3xf32> {
  %f = arith.constant dense<1.0> : tensor<3x4x3x2x2xf32>
  %0 = top.conv_transpose %x, %f {strides = array<i64: 2, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>,
    output_padding = array<i64: 0, 0, 0>} : (tensor<1x3x3x2x2xf32>, tensor<3x4x3x2x2xf32>) -> tensor<1x4x7x3x3xf32>
  return %0 : tensor<1x4x7x3x3xf32>
}

// -----

// CHECK-LABEL: @pool_3d
// CHECK: top.max_pool {{.*}}kernel = array<i64: 2, 2>{{.*}} -> tensor<2x12x2x2xf32>
// CHECK: top.max_pool {{.*}}kernel = array<i64: 3, 1>{{.*}} -> tensor<2x3x2x4xf32>
// CHECK: top.reshape {{.*}} -> tensor<2x3x2x2x2xf32>
func.func @pool_3d(%x: tensor<2x3x4x4x4xf32>) -> tensor<2x3x2x2x2xf32> {
  %0 = top.max_pool %x {kernel = array<i64: 3, 2, 2>, strides = array<i64: 1, 2, 2>, pads = array<i64: 0, 0, 0, 0, 0, 0>,
    dilations = array<i64: 1, 1, 1>} : (tensor<2x3x4x4x4xf32>) -> tensor<2x3x2x2x2xf32>
  return %0 : tensor<2x3x2x2x2xf32>
}

// -----

// The filter is an argument: patches of 3 channels x 2 taps, one product per group.
// CHECK-LABEL: @computed_filter
// CHECK-NOT: top.conv
// CHECK: top.matmul {{.*}} (tensor<1x2x4x6xf32>, tensor<1x2x6x5xf32>) -> tensor<1x2x4x5xf32>
func.func @computed_filter(%x: tensor<1x6x6xf32>, %w: tensor<8x3x2xf32>) -> tensor<1x8x5xf32> {
  %0 = top.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 2 : i64}
    : (tensor<1x6x6xf32>, tensor<8x3x2xf32>) -> tensor<1x8x5xf32>
  return %0 : tensor<1x8x5xf32>
}

// -----

// What top-fold left of a filter is computed by a run, though only constants decide it.
// CHECK-LABEL: @filter_of_constants
// CHECK-NOT: top.conv
// CHECK: top.matmul
func.func @filter_of_constants(%x: tensor<1x3x6xf32>) -> tensor<1x8x5xf32> {
  %c = arith.constant dense<1.0> : tensor<8x3x2xf32>
  %w = top.softmax %c {axis = 1} : (tensor<8x3x2xf32>) -> tensor<8x3x2xf32>
  %0 = top.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
    : (tensor<1x3x6xf32>, tensor<8x3x2xf32>) -> tensor<1x8x5xf32>
  return %0 : tensor<1x8x5xf32>
}

// -----

// A kernel of 10 at stride 3: rows of 3 elements that begin 3 apart, under a kernel of 4.
// CHECK-LABEL: @long_kernel_with_stride
// CHECK: top.conv {{.*}}strides = array<i64: 3>
// SMALL-LABEL: @long_kernel_with_stride
// SMALL: top.conv {{.*}}strides = array<i64: 1>{{.*}} (tensor<1x3x7xf32>, tensor<2x3x4xf32>) -> tensor<1x2x4xf32>
func.func @long_kernel_with_stride(%x: tensor<1x1x20xf32>) -> tensor<1x2x4xf32> {
  %f = arith.constant dense<1.0> : tensor<2x1x10xf32>
  %0 = top.conv %x, %f {strides = array<i64: 3>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
    : (tensor<1x1x20xf32>, tensor<2x1x10xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}

// -----

// Seven taps, four at most: two parts.
// SMALL-LABEL: @long_kernel
// SMALL: top.conv {{.*}} (tensor<1x1x17xf32>, tensor<2x1x4xf32>) -> tensor<1x2x14xf32>
// SMALL: top.conv {{.*}} (tensor<1x1x16xf32>, tensor<2x1x3xf32>) -> tensor<1x2x14xf32>
// SMALL: top.add
func.func @long_kernel(%x: tensor<1x1x20xf32>) -> tensor<1x2x14xf32> {
  %f = arith.constant dense<1.0> : tensor<2x1x7xf32>
  %0 = top.conv %x, %f {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
    : (tensor<1x1x20xf32>, tensor<2x1x7xf32>) -> tensor<1x2x14xf32>
  return %0 : tensor<1x2x14xf32>
}

// -----

// SMALL-LABEL: @long_dilation
// SMALL: top.conv {{.*}} (tensor<1x3x10xf32>, tensor<2x3x1xf32>) -> tensor<1x2x10xf32>
func.func @long_dilation(%x: tensor<1x1x20xf32>) -> tensor<1x2x10xf32> {
  %f = arith.constant dense<1.0> : tensor<2x1x3xf32>
  %0 = top.conv %x, %f {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 5>}
    : (tensor<1x1x20xf32>, tensor<2x1x3xf32>) -> tensor<1x2x10xf32>
  return %0 : tensor<1x2x10xf32>
}

// -----

// SMALL-LABEL: @large_pool
// SMALL: top.avg_pool {{.*}}kernel = array<i64: 1, 4>{{.*}} -> tensor<1x3x8x2xf32>
// SMALL: top.avg_pool {{.*}}kernel = array<i64: 4, 1>{{.*}} -> tensor<1x3x2x2xf32>
func.func @large_pool(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x2x2xf32> {
  %0 = top.avg_pool %x {kernel = array<i64: 4, 4>, strides = array<i64: 4, 4>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<1x3x8x8xf32>) -> tensor<1x3x2x2xf32>
  return %0 : tensor<1x3x2x2xf32>
}

// -----

// CHECK-LABEL: @pool_of_one_element
// CHECK: top.slice {{.*}}ends = array<i64: 1, 3, 7, 8>, starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 3, 7>
func.func @pool_of_one_element(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x3x2xf32> {
  %0 = top.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 3, 7>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<1x3x8x8xf32>) -> tensor<1x3x3x2xf32>
  return %0 : tensor<1x3x3x2xf32>
}

// -----

// CHECK-LABEL: @downward_slice
// CHECK: arith.constant dense<[4, 2, 0]> : tensor<3xi64>
// CHECK: top.gather {{.*}} {axis = 1 : i64} : (tensor<4x6xf32>, tensor<3xi64>) -> tensor<4x3xf32>
// CHECK: top.slice {{.*}}starts = array<i64: 1, 0>
func.func @downward_slice(%x: tensor<4x6xf32>) -> tensor<3x3xf32> {
  %0 = top.slice %x {starts = array<i64: 1, 4>, ends = array<i64: 4, -1>, steps = array<i64: 1, -2>} : (tensor<4x6xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// -----

// Downward in two whole dimensions, which leaves the shape as it is.
// CHECK-LABEL: @turned
// CHECK: top.gather {{.*}} {axis = 0 : i64}
// CHECK: top.gather {{.*}} {axis = 1 : i64}
func.func @turned(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = top.slice %x {starts = array<i64: 3, 5>, ends = array<i64: -1, -1>, steps = array<i64: -1, -1>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// What img2col takes stays.
// CHECK-LABEL: @plain
// CHECK-NEXT: arith.constant
// CHECK-NEXT: top.conv
// CHECK-NEXT: return
func.func @plain(%x: tensor<1x1x20xf32>) -> tensor<1x2x18xf32> {
  %f = arith.constant dense<1.0> : tensor<2x1x3xf32>
  %0 = top.conv %x, %f {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
    : (tensor<1x1x20xf32>, tensor<2x1x3xf32>) -> tensor<1x2x18xf32>
  return %0 : tensor<1x2x18xf32>
}

// -----

// A resize of f64: copied dimensions are gathers, others products with the weights. Of integers a gather, unless a
// repetition does.
// CHECK-LABEL: func @resizes
// CHECK: %[[I:.*]] = arith.constant dense<[0, 0, 1]> : tensor<3xi64>
// CHECK: %[[W:.*]] = arith.constant dense<{{.*}}7.500000e-01{{.*}}> : tensor<2x4xf64>
// CHECK: %[[R:.*]] = top.matmul %{{.*}}, %[[W]] : (tensor<2x2xf64>, tensor<2x4xf64>) -> tensor<2x4xf64>
// CHECK: %[[D:.*]] = top.reshape %[[R]] {{.*}} -> tensor<1x1x2x4xf64>
// CHECK: %[[G:.*]] = top.gather %arg1, %[[I]] {axis = 2 : i64} : (tensor<1x1x2x2xui8>, tensor<3xi64>) -> tensor<1x1x3x2xui8>
// CHECK: %[[Z:.*]] = top.resize %arg1
// CHECK: return %[[D]], %[[G]], %[[Z]]
func.func @resizes(%d: tensor<1x1x2x2xf64>, %b: tensor<1x1x2x2xui8>) -> (tensor<1x1x2x4xf64>, tensor<1x1x3x2xui8>, tensor<1x1x2x4xui8>) {
  %0 = top.resize %d {sizes = array<i64: 1, 1, 2, 4>, scales = array<f64: 1.0, 1.0, 1.0, 2.0>, mode = "linear"} : (tensor<1x1x2x2xf64>) -> tensor<1x1x2x4xf64>
  %1 = top.resize %b {sizes = array<i64: 1, 1, 3, 2>, scales = array<f64: 1.0, 1.0, 1.5, 1.0>, mode = "nearest", coordinates = "asymmetric", nearest_mode = "floor"} : (tensor<1x1x2x2xui8>) -> tensor<1x1x3x2xui8>
  %2 = top.resize %b {sizes = array<i64: 1, 1, 2, 4>, scales = array<f64: 1.0, 1.0, 1.0, 2.0>, mode = "nearest", coordinates = "asymmetric", nearest_mode = "floor"} : (tensor<1x1x2x2xui8>) -> tensor<1x1x2x4xui8>
  return %0, %1, %2 : tensor<1x1x2x4xf64>, tensor<1x1x3x2xui8>, tensor<1x1x2x4xui8>
}

// -----

// An odd number of taps takes two blocks of channels of f32 at a time: one of each, image and weights, exceeds L1.
// CHECK-LABEL: @conv_many_taps
// CHECK: top.conv {{.*}} (tensor<1x{{[0-9]+}}x1x14xf32>, tensor<6x{{[0-9]+}}x1x13xf32>) -> tensor<1x6x1x2xf32>
func.func @conv_many_taps(%x: tensor<1x46x181x14xf32>) -> tensor<1x6x1x2xf32> {
  %f = arith.constant dense<1.0> : tensor<6x46x37x13xf32>
  %0 = top.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 5, 1>}
    : (tensor<1x46x181x14xf32>, tensor<6x46x37x13xf32>) -> tensor<1x6x1x2xf32>
  return %0 : tensor<1x6x1x2xf32>
}

// -----

// Rows of two elements of 50 outer indices: one row of 100, between two permutes. A long row stays where it is.
// CHECK-LABEL: @gather_short_rows
// CHECK: %[[P:.*]] = top.permute %{{.*}} {perm = array<i64: 1, 0, 2>} : (tensor<50x7x2xf32>) -> tensor<7x50x2xf32>
// CHECK: %[[G:.*]] = top.gather %[[P]], %{{.*}} {axis = 0 : i64} : (tensor<7x50x2xf32>, tensor<12xi64>) -> tensor<12x50x2xf32>
// CHECK: top.permute %[[G]] {perm = array<i64: 1, 0, 2>} : (tensor<12x50x2xf32>) -> tensor<50x12x2xf32>
// CHECK: top.reshape %{{.*}} -> tensor<5x10x3x4x2xf32>
// CHECK: top.gather %arg2, %arg1 {axis = 1 : i64}
func.func @gather_short_rows(%x: tensor<5x10x7x2xf32>, %i: tensor<3x4xi64>, %z: tensor<5x7x64xf32>) -> (tensor<5x10x3x4x2xf32>, tensor<5x3x4x64xf32>) {
  %0 = top.gather %x, %i {axis = 2 : i64} : (tensor<5x10x7x2xf32>, tensor<3x4xi64>) -> tensor<5x10x3x4x2xf32>
  %1 = top.gather %z, %i {axis = 1 : i64} : (tensor<5x7x64xf32>, tensor<3x4xi64>) -> tensor<5x3x4x64xf32>
  return %0, %1 : tensor<5x10x3x4x2xf32>, tensor<5x3x4x64xf32>
}

// -----

// A window of 86 at stride 40 is two blocks and 6 elements of the third; the padding is minus infinity.
// CHECK-LABEL: @max_pool_long_stride
// CHECK: top.pad %arg0 {pads = array<i64: 0, 0, 1, 0, 0, 19>, value = 0xFFF0000000000000 : f64}
// CHECK: top.reshape {{.*}} -> tensor<2x3x4x40xf32>
// CHECK: top.reduce_max {{.*}} -> tensor<2x3x3xf32>
// CHECK: top.max_pool {{.*}}kernel = array<i64: 2>{{.*}}strides = array<i64: 1>{{.*}} -> tensor<2x3x2xf32>
// CHECK: top.reduce_max {{.*}} (tensor<2x3x2x6xf32>) -> tensor<2x3x2xf32>
// CHECK: top.max %
func.func @max_pool_long_stride(%x: tensor<2x3x140xf32>) -> tensor<2x3x2xf32> {
  %0 = top.max_pool %x {kernel = array<i64: 86>, strides = array<i64: 40>, pads = array<i64: 1, 0>, dilations = array<i64: 1>} : (tensor<2x3x140xf32>) -> tensor<2x3x2xf32>
  return %0 : tensor<2x3x2xf32>
}

// -----

// Downward in two dimensions, both whole.
// CHECK-LABEL: @downward_twice
// CHECK: %[[R:.*]] = top.gather %{{.*}} {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
// CHECK: top.gather %[[R]], {{.*}} {axis = 1 : i64} : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
func.func @downward_twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = top.slice %x {starts = array<i64: 1, 2>, ends = array<i64: -1, -1>, steps = array<i64: -1, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// 1,000 elements: 31 at every position, 32 of these, and the last 31 once more.
// CHECK-LABEL: @long_pool
// CHECK: %[[B:.*]] = top.max_pool {{.*}} kernel = array<i64: 1, 31>
// CHECK: %[[W:.*]] = top.max_pool {{.*}}dilations = array<i64: 1, 31>, kernel = array<i64: 1, 32>
// CHECK: %[[L:.*]] = top.slice %[[B]] {{.*}}starts = array<i64: 0, 0, 0, 969>
// CHECK: top.max %[[W]], %[[L]]
func.func @long_pool(%x: tensor<1x2x1x1400xf32>) -> tensor<1x2x1x401xf32> {
  %0 = top.max_pool %x {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1000>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x1x1400xf32>) -> tensor<1x2x1x401xf32>
  return %0 : tensor<1x2x1x401xf32>
}

// -----

// No kernel could be built: taps become channels.
// CHECK-LABEL: @no_kernel
// CHECK: top.concat
// CHECK: top.conv {{.*}} (tensor<1x6x3x6xf32>, tensor<2x6x1x3xf32>)
func.func @no_kernel(%x: tensor<1x2x5x6xf32>) -> tensor<1x2x3x4xf32> {
  %f = arith.constant dense<1.0> : tensor<2x2x3x3xf32>
  %0 = top.conv %x, %f {top.no_kernel, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<1x2x5x6xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x4xf32>
  return %0 : tensor<1x2x3x4xf32>
}

// -----

// A dilation beyond the image leaves the middle tap.
// CHECK-LABEL: @taps_on_padding
// CHECK: %[[F:.*]] = arith.constant {{.*}}tensor<7x2x1x1xf32>
// CHECK: top.conv %arg0, %[[F]] {dilations = array<i64: 1, 1>{{.*}}pads = array<i64: 0, 0, 0, 0>{{.*}} (tensor<1x2x5x5xf32>, tensor<7x2x1x1xf32>) -> tensor<1x7x5x5xf32>
func.func @taps_on_padding(%x: tensor<1x2x5x5xf32>) -> tensor<1x7x5x5xf32> {
  %f = arith.constant dense<1.0> : tensor<7x2x3x3xf32>
  %0 = top.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 6, 6, 6, 6>, dilations = array<i64: 6, 6>}
    : (tensor<1x2x5x5xf32>, tensor<7x2x3x3xf32>) -> tensor<1x7x5x5xf32>
  return %0 : tensor<1x7x5x5xf32>
}

// -----

// Of three taps two stay: no tap reaches the first row of the input any more. The width is untouched.
// CHECK-LABEL: @taps_on_one_side
// CHECK: %[[X:.*]] = top.slice %arg0 {{.*}} -> tensor<1x2x8x5xf32>
// CHECK: top.conv %[[X]], %{{.*}} {dilations = array<i64: 6, 1>{{.*}}pads = array<i64: 0, 1, 0, 1>{{.*}} (tensor<1x2x8x5xf32>, tensor<7x2x2x3xf32>) -> tensor<1x7x2x5xf32>
func.func @taps_on_one_side(%x: tensor<1x2x9x5xf32>) -> tensor<1x7x2x5xf32> {
  %f = arith.constant dense<1.0> : tensor<7x2x3x3xf32>
  %0 = top.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 5, 1, 0, 1>, dilations = array<i64: 6, 1>}
    : (tensor<1x2x9x5xf32>, tensor<7x2x3x3xf32>) -> tensor<1x7x2x5xf32>
  return %0 : tensor<1x7x2x5xf32>
}

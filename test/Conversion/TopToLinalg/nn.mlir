// RUN: pto-opt %s --split-input-file --convert-top-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @conv
// CHECK: %[[P:.*]] = tensor.pad %{{.*}} low[0, 1, 0, 0] high[0, 0, 2, 0]
// CHECK: %[[I:.*]] = linalg.broadcast ins(%{{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<1x2x6x4xf32>) dimensions = [0, 1, 2]
// CHECK: %[[C:.*]] = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%[[P]], %{{.*}} : tensor<1x5x8x3xf16>, tensor<3x3x3x4xf16>) outs(%[[I]] : tensor<1x2x6x4xf32>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[C]] : tensor<1x2x6x4xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: return %[[R]]
func.func @conv(%x: tensor<1x4x6x3xf16>, %w: tensor<3x3x3x4xf16>, %b: tensor<4xf32>) -> tensor<1x2x6x4xf16> {
  %0 = top.conv %x, %w, %b {strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 0, 2>, dilations = array<i64: 1, 1>, layout = "NHWC"} : (tensor<1x4x6x3xf16>, tensor<3x3x3x4xf16>, tensor<4xf32>) -> tensor<1x2x6x4xf16>
  return %0 : tensor<1x2x6x4xf16>
}

// -----

// CHECK-LABEL: func.func @depthwise
// CHECK: %[[F:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] : tensor<3x3x1x4xf32> into tensor<3x3x4xf32>
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<1x2x2x4xf32>)
// CHECK: linalg.depthwise_conv_2d_nhwc_hwc {{.*}} ins(%{{.*}}, %[[F]] : tensor<1x4x4x4xf32>, tensor<3x3x4xf32>)
func.func @depthwise(%x: tensor<1x4x4x4xf32>, %w: tensor<3x3x1x4xf32>) -> tensor<1x2x2x4xf32> {
  %0 = top.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 4, layout = "NHWC"} : (tensor<1x4x4x4xf32>, tensor<3x3x1x4xf32>) -> tensor<1x2x2x4xf32>
  return %0 : tensor<1x2x2x4xf32>
}

// -----

// CHECK: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 * 2 + d5, d2 + d6 * 3, d3, d7)>
// CHECK-LABEL: func.func @grouped
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x5x7x2x2xf32>, tensor<2x3x3x3x2xf32>) outs(%{{.*}} : tensor<1x2x1x2x3xf32>)
func.func @grouped(%x: tensor<1x5x7x4xf32>) -> tensor<1x2x1x6xf32> {
  %w = arith.constant dense<0.5> : tensor<3x3x2x6xf32>
  %0 = top.conv %x, %w {strides = array<i64: 2, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 3>, group = 2, layout = "NHWC"} : (tensor<1x5x7x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x2x1x6xf32>
  return %0 : tensor<1x2x1x6xf32>
}

// -----

// CHECK-LABEL: func.func @max_pool
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: linalg.pooling_nhwc_max
func.func @max_pool(%x: tensor<1x4x4x8xf32>) -> tensor<1x2x2x8xf32> {
  %0 = top.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>, dilations = array<i64: 1, 1>, layout = "NHWC"} : (tensor<1x4x4x8xf32>) -> tensor<1x2x2x8xf32>
  return %0 : tensor<1x2x2x8xf32>
}

// -----

// Without count_include_pad a window at the border has fewer elements: here
// 2 or 3 in each direction.
// CHECK-LABEL: func.func @avg_pool
// CHECK: %[[SUM:.*]] = linalg.pooling_nhwc_sum
// CHECK: %[[COUNTS:.*]] = arith.constant dense<{{\[\[}}4.000000e+00, 6.000000e+00, 4.000000e+00], [6.000000e+00, 9.000000e+00, 6.000000e+00], [4.000000e+00, 6.000000e+00, 4.000000e+00]]> : tensor<3x3xf32>
// CHECK: linalg.generic {{.*}} ins(%[[SUM]], %[[COUNTS]] : tensor<1x3x3x8xf32>, tensor<3x3xf32>)
// CHECK: arith.divf %{{.*}} : f32
func.func @avg_pool(%x: tensor<1x3x3x8xf32>) -> tensor<1x3x3x8xf32> {
  %0 = top.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = "NHWC"} : (tensor<1x3x3x8xf32>) -> tensor<1x3x3x8xf32>
  return %0 : tensor<1x3x3x8xf32>
}

// -----

// f16 statistics are computed in f32.
// CHECK-LABEL: func.func @softmax
// CHECK: arith.extf
// CHECK: arith.maximumf
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.addf %{{.*}} : f32
// CHECK: arith.divf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @softmax(%x: tensor<3x197xf16>) -> tensor<3x197xf16> {
  %0 = top.softmax %x {axis = 1} : (tensor<3x197xf16>) -> tensor<3x197xf16>
  return %0 : tensor<3x197xf16>
}

// -----

// A kernel as large as its stride has one tap per phase: a convolution with one tap whose
// features are the phases, then an interleaving of the phases.
// CHECK-LABEL: func.func @conv_transpose
// CHECK-DAG: %[[F:.*]] = arith.constant dense<{{\[\[\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]]]]> : tensor<1x1x1x4xf32>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<5.000000e+00> : tensor<4xf32>
// CHECK: linalg.broadcast ins(%[[B]] : tensor<4xf32>)
// CHECK: %[[C:.*]] = linalg.conv_2d_nhwc_hwcf {{.*}} ins(%{{.*}}, %[[F]] : tensor<1x3x4x1xf32>, tensor<1x1x1x4xf32>)
// CHECK: %[[E:.*]] = tensor.expand_shape %{{.*}} output_shape [3, 4, 2, 2]
// CHECK: linalg.transpose ins(%[[E]] : tensor<3x4x2x2xf32>) outs(%{{.*}} : tensor<3x2x4x2xf32>) permutation = [0, 2, 1, 3]
func.func @conv_transpose(%x: tensor<1x3x4x1xf32>) -> tensor<1x6x8x1xf32> {
  %w = arith.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %b = arith.constant dense<5.0> : tensor<1xf32>
  %0 = top.conv_transpose %x, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, layout = "NHWC"} : (tensor<1x3x4x1xf32>, tensor<2x2x1x1xf32>, tensor<1xf32>) -> tensor<1x6x8x1xf32>
  return %0 : tensor<1x6x8x1xf32>
}

// -----

// Three taps at stride 2: phase 0 has taps 2 and 0, phase 1 has tap 1. The first of six
// outputs is one element after the first position, because of the pad.
// CHECK-LABEL: func.func @conv_transpose_phases
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[\[}}3.000000e+00, 0.000000e+00]], {{\[\[}}1.000000e+00, 2.000000e+00]]]> : tensor<2x1x2xf32>
// CHECK: %[[F:.*]] = tensor.expand_shape %[[W]]
// CHECK: %[[P:.*]] = tensor.pad %{{.*}} low[0, 0, 1, 0] high[0, 0, 1, 0]
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}} ins(%[[P]], %[[F]] : tensor<1x1x5x1xf32>, tensor<1x2x1x2xf32>) outs(%{{.*}} : tensor<1x1x4x2xf32>)
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 0] [1, 6, 1] [1, 1, 1] : tensor<1x8x1xf32> to tensor<1x6x1xf32>
func.func @conv_transpose_phases(%x: tensor<1x3x1xf32>) -> tensor<1x6x1xf32> {
  %w = arith.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %0 = top.conv_transpose %x, %w {strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>, layout = "NHWC"} : (tensor<1x3x1xf32>, tensor<3x1x1xf32>) -> tensor<1x6x1xf32>
  return %0 : tensor<1x6x1xf32>
}

// -----

// Integer factors repeat one read; integer fractions are slices.
// CHECK: #[[$MAP:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d5)>
// CHECK-LABEL: func.func @resize_nearest
// CHECK: linalg.generic {indexing_maps = [#[[$MAP]], {{.*}}} ins(%{{.*}} : tensor<1x2x3x4xf32>) outs(%{{.*}} : tensor<1x2x2x3x4x4xf32>)
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 2, 6, 4] [1, 2, 2, 1] : tensor<1x4x12x4xf32> to tensor<1x2x6x4xf32>
func.func @resize_nearest(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x6x4xf32> {
  %0 = top.resize %x {sizes = array<i64: 1, 4, 12, 4>, scales = array<f64: 1.0, 2.0, 4.0, 1.0>, mode = "nearest", coordinates = "asymmetric", nearest_mode = "floor"} : (tensor<1x2x3x4xf32>) -> tensor<1x4x12x4xf32>
  %1 = top.resize %0 {sizes = array<i64: 1, 2, 6, 4>, scales = array<f64: 1.0, 0.5, 0.5, 1.0>, mode = "nearest", coordinates = "asymmetric", nearest_mode = "floor"} : (tensor<1x4x12x4xf32>) -> tensor<1x2x6x4xf32>
  return %1 : tensor<1x2x6x4xf32>
}

// -----

// Every other resize is a product with the matrix of the interpolation weights.
// CHECK-LABEL: func.func @resize_linear
// CHECK: %[[M:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00], [7.500000e-01, 2.500000e-01], [2.500000e-01, 7.500000e-01], [0.000000e+00, 1.000000e+00]]> : tensor<4x2xf32>
// CHECK: linalg.matmul ins(%[[M]], %{{.*}} : tensor<4x2xf32>, tensor<2x12xf32>)
func.func @resize_linear(%x: tensor<1x2x3x4xf32>) -> tensor<1x4x3x4xf32> {
  %0 = top.resize %x {sizes = array<i64: 1, 4, 3, 4>, scales = array<f64: 1.0, 2.0, 1.0, 1.0>, mode = "linear"} : (tensor<1x2x3x4xf32>) -> tensor<1x4x3x4xf32>
  return %0 : tensor<1x4x3x4xf32>
}

// -----

// Every output is written by a kernel: an input, a constant or a duplicate output is copied.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = arith.constant
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK: %[[A:.*]] = linalg.copy ins(%[[Y]]
// CHECK: %[[B:.*]] = linalg.copy ins(%arg0
// CHECK: %[[C:.*]] = linalg.copy ins(%[[W]]
// CHECK: return %[[Y]], %[[A]], %[[B]], %[[C]]
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32> {top.name = "y"}, tensor<2x3xf32> {top.name = "a"}, tensor<2x3xf32> {top.name = "b"}, tensor<2xf32> {top.name = "c"}) {
  %w = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = top.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
  return %0, %0, %x, %w : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>
}

// -----

// A slice of a splat folds to a constant, so it is copied, too.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: linalg.copy ins(%[[S]]
func.func @main() -> (tensor<2xf32> {top.name = "s"}) {
  %w = arith.constant dense<1.0> : tensor<3xf32>
  %0 = top.slice %w {starts = array<i64: 0>, ends = array<i64: 2>, steps = array<i64: 1>} : (tensor<3xf32>) -> tensor<2xf32> loc("s")
  return %0 : tensor<2xf32>
}

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

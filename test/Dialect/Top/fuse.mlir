// RUN: pto-opt --top-fuse --split-input-file %s | FileCheck %s

// scale / sqrt(variance + epsilon) = 2, 3; bias - mean * that = 0.5 - 2, 1 - 6.
// CHECK: module attributes {top.absorbed = ["conv"]}
// CHECK-LABEL: func @batch_norm_of_conv
func.func @batch_norm_of_conv(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}6.000000e+00]]]]> : tensor<2x1x1x1xf32>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<[1.850000e+01, -5.000000e+00]> : tensor<2xf32>
  %w = arith.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %b = arith.constant dense<[10.0, 0.0]> : tensor<2xf32>
  %scale = arith.constant dense<[4.0, 6.0]> : tensor<2xf32>
  %bias = arith.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %mean = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %variance = arith.constant dense<[3.0, 3.0]> : tensor<2xf32>
  // CHECK: %[[R:.*]] = top.conv %arg0, %[[W]], %[[B]] {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
  // CHECK-NEXT: return %[[R]]
  %0 = top.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32> loc("conv")
  %1 = top.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = 1.0}
    : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32> loc("bn")
  return %1 : tensor<1x2x4x4xf32>
}

// -----

// In NHWC the output channel is the last dimension of the filter.
// CHECK-LABEL: func @nhwc
func.func @nhwc(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  // CHECK-DAG: dense<{{\[\[\[\[}}2.000000e+00, 6.000000e+00], [6.000000e+00, 1.200000e+01]]]]> : tensor<1x1x2x2xf32>
  // CHECK-DAG: dense<[-2.000000e+00, -6.000000e+00]> : tensor<2xf32>
  %w = arith.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %scale = arith.constant dense<[4.0, 6.0]> : tensor<2xf32>
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %mean = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %variance = arith.constant dense<[3.0, 3.0]> : tensor<2xf32>
  %0 = top.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = "NHWC"}
    : (tensor<1x4x4x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK-NOT: top.batch_norm
  %1 = top.batch_norm %0, %scale, %zero, %mean, %variance {epsilon = 1.0, layout = "NHWC"}
    : (tensor<1x4x4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  return %1 : tensor<1x4x4x2xf32>
}

// -----

// The convolution has other users: the normalisation becomes mul and add.
// CHECK-LABEL: func @batch_norm_alone
func.func @batch_norm_alone(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %scale = arith.constant dense<[4.0, 6.0]> : tensor<2xf32>
  %bias = arith.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %mean = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %variance = arith.constant dense<[3.0, 3.0]> : tensor<2xf32>
  // CHECK-DAG: %[[S:.*]] = arith.constant dense<{{\[\[\[\[}}2.000000e+00]], {{\[\[}}3.000000e+00]]]]> : tensor<1x2x1x1xf32>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<{{\[\[\[\[}}-1.500000e+00]], {{\[\[}}-5.000000e+00]]]]> : tensor<1x2x1x1xf32>
  // CHECK: %[[M:.*]] = top.mul %{{.*}}, %[[S]]
  // CHECK: top.add %[[M]], %[[B]]
  %0 = top.relu %x : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %1 = top.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = 1.0}
    : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}

// -----

// CHECK: module attributes {top.absorbed = ["conv", "plus"]}
// CHECK-LABEL: func @biases
func.func @biases(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %c = arith.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %per = arith.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %all = arith.constant dense<10.0> : tensor<f32>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<[1.100000e+01, 1.200000e+01]> : tensor<2xf32>
  // CHECK: %[[R:.*]] = top.conv %arg0, %{{.*}}, %[[B]]
  // CHECK-NEXT: return %[[R]]
  %0 = top.conv %x, %c {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> loc("conv")
  %1 = top.add %0, %per : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("plus")
  %2 = top.add %all, %1 : (tensor<f32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("sum")
  return %2 : tensor<1x2x4x4xf32>
}

// -----

// A constant that varies along the width is not a bias, nor is a sum with another tensor.
// CHECK-LABEL: func @no_bias
func.func @no_bias(%x: tensor<1x1x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %c = arith.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %row = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: %[[C:.*]] = top.conv %arg0, %{{[^,]*}} {
  // CHECK: %[[A:.*]] = top.add %[[C]]
  // CHECK: top.add %[[A]], %[[A]]
  %0 = top.conv %x, %c {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %1 = top.add %0, %row : (tensor<1x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %2 = top.add %1, %1 : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}

// -----

// CHECK-LABEL: func @matmul
func.func @matmul(%x: tensor<2x2xf32>) -> tensor<2x3xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  // CHECK: %[[B:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
  // CHECK: top.matmul %arg0, %{{.*}}, %[[B]] : (tensor<2x2xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %0 = top.matmul %x, %w : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = top.add %0, %c : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

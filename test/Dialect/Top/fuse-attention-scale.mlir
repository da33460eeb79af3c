// RUN: pto-opt %s --top-fuse | FileCheck %s

// The weights of the queries take the scale, and attention has none.
// CHECK-LABEL: func.func @projected
// CHECK: arith.constant dense<[5.000000e-01, 1.000000e+00, 1.500000e+00, 2.000000e+00]> : tensor<4xf32>
// CHECK: top.attention {{.*}}scale = 1.000000e+00
func.func @projected(%x: tensor<1x3x2xf32>, %k: tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32> {
  %w = arith.constant dense<2.0> : tensor<2x4xf32>
  %b = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %p = top.matmul %x, %w, %b : (tensor<1x3x2xf32>, tensor<2x4xf32>, tensor<4xf32>) -> tensor<1x3x4xf32>
  %h = top.reshape %p {shape = array<i64: 1, 3, 2, 2>} : (tensor<1x3x4xf32>) -> tensor<1x3x2x2xf32>
  %q = top.permute %h {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x3x2x2xf32>) -> tensor<1x2x3x2xf32>
  %0 = top.attention %q, %k, %k {scale = 0.5, q_heads = 2, kv_heads = 2}
      : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
  return %0 : tensor<1x2x3x2xf32>
}

// Queries that somebody else reads, and those without constant weights, stay as they are.
// CHECK-LABEL: func.func @shared
// CHECK: top.attention {{.*}}scale = 5.000000e-01
func.func @shared(%x: tensor<1x2x3x2xf32>, %w: tensor<2x2xf32>) -> tensor<1x2x3x2xf32> {
  %q = top.matmul %x, %w : (tensor<1x2x3x2xf32>, tensor<2x2xf32>) -> tensor<1x2x3x2xf32>
  %0 = top.attention %q, %x, %x {scale = 0.5, q_heads = 2, kv_heads = 2}
      : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
  return %0 : tensor<1x2x3x2xf32>
}

// Scales that would leave weights to the subnormals of f16, or beyond its greatest number, stay.
// CHECK-LABEL: func.func @range
// CHECK: top.matmul
// CHECK: top.mul
// CHECK: top.matmul
// CHECK: top.mul
func.func @range(%x: tensor<3x2xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %w = arith.constant dense<2.0> : tensor<2x4xf32>
  %tiny = arith.constant dense<1.0e-6> : tensor<f32>
  %large = arith.constant dense<5.0e4> : tensor<f32>
  %p = top.matmul %x, %w : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %t = top.permute %p {perm = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %0 = top.mul %t, %tiny : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %q = top.matmul %x, %w : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %u = top.permute %q {perm = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = top.mul %u, %large : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return %0, %1 : tensor<4x3xf32>, tensor<4x3xf32>
}

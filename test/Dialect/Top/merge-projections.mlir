// RUN: pto-opt %s --top-fuse-attention | FileCheck %s

// Keys and values are columns of one product, and so are queries that the same tensor makes.
// CHECK-LABEL: func.func @self
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00, 3.000000e+00, 3.000000e+00], [1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00, 3.000000e+00, 3.000000e+00]]> : tensor<2x6xf32>
// CHECK: %[[P:.*]] = top.matmul %arg0, %[[W]] : (tensor<1x3x2xf32>, tensor<2x6xf32>) -> tensor<1x3x6xf32>
// CHECK-DAG: %[[Q:.*]] = top.slice %[[P]] {ends = array<i64: 1, 3, 2>, starts = array<i64: 0, 0, 0>
// CHECK-DAG: %[[K:.*]] = top.slice %[[P]] {ends = array<i64: 1, 3, 4>, starts = array<i64: 0, 0, 2>
// CHECK-DAG: %[[V:.*]] = top.slice %[[P]] {ends = array<i64: 1, 3, 6>, starts = array<i64: 0, 0, 4>
// CHECK: top.attention %[[Q]], %[[K]], %[[V]]
func.func @self(%x: tensor<1x3x2xf32>) -> tensor<1x3x2xf32> {
  %0 = arith.constant dense<1.0> : tensor<2x2xf32>
  %1 = arith.constant dense<2.0> : tensor<2x2xf32>
  %2 = arith.constant dense<3.0> : tensor<2x2xf32>
  %q = top.matmul %x, %0 : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
  %k = top.matmul %x, %1 : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
  %v = top.matmul %x, %2 : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
  %y = top.attention %q, %k, %v {scale = 0.5, q_heads = 1, kv_heads = 1, q_layout = "BSND", k_layout = "BSND", v_layout = "BSND", result_layout = "BSND"}
      : (tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  return %y : tensor<1x3x2xf32>
}

// Of transposed weights rows follow one another. Queries of another tensor keep their product.
// CHECK-LABEL: func.func @cross
// CHECK: top.matmul %arg0, %{{.*}} : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
// CHECK: top.matmul %arg1, %{{.*}}, %{{.*}} {transpose_b = true} : (tensor<1x4x2xf32>, tensor<4x2xf32>, tensor<4xf32>) -> tensor<1x4x4xf32>
// CHECK: top.attention
func.func @cross(%x: tensor<1x3x2xf32>, %z: tensor<1x4x2xf32>) -> tensor<1x3x2xf32> {
  %0 = arith.constant dense<1.0> : tensor<2x2xf32>
  %1 = arith.constant dense<2.0> : tensor<2x2xf32>
  %b = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %q = top.matmul %x, %0 : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
  %k = top.matmul %z, %0, %b {transpose_b = true} : (tensor<1x4x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x4x2xf32>
  %v = top.matmul %z, %1, %b {transpose_b = true} : (tensor<1x4x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x4x2xf32>
  %y = top.attention %q, %k, %v {scale = 0.5, q_heads = 1, kv_heads = 1, q_layout = "BSND", k_layout = "BSND", v_layout = "BSND", result_layout = "BSND"}
      : (tensor<1x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<1x3x2xf32>
  return %y : tensor<1x3x2xf32>
}

// Keys that somebody else reads stay as they are, and so do weights that are computed.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-3: top.matmul {{.*}} -> tensor<1x3x2xf32>
// CHECK-NOT: top.slice
func.func @apart(%x: tensor<1x3x2xf32>, %w: tensor<2x2xf32>) -> (tensor<1x3x2xf32>, tensor<1x3x2xf32>) {
  %0 = arith.constant dense<1.0> : tensor<2x2xf32>
  %q = top.matmul %x, %0 : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
  %k = top.matmul %x, %0 : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
  %v = top.matmul %x, %w : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
  %y = top.attention %q, %k, %v {scale = 0.5, q_heads = 1, kv_heads = 1, q_layout = "BSND", k_layout = "BSND", v_layout = "BSND", result_layout = "BSND"}
      : (tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  return %y, %k : tensor<1x3x2xf32>, tensor<1x3x2xf32>
}

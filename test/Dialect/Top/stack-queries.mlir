// Heads that share keys and values become the rows of one head.
// RUN: pto-opt %s --split-input-file --top-fuse-attention | FileCheck %s

// CHECK-LABEL: func.func @heads
// CHECK: %[[Q:.*]] = top.reshape %{{.*}} {shape = array<i64: 2, 4, 3, 16>}
// CHECK: %[[R:.*]] = top.attention %[[Q]], {{.*}} lengths {{.*}} {kv_heads = 4 : i64, q_heads = 4 : i64, scale = 2.500000e-01 : f64, softcap = 2.000000e+00 : f64} : (tensor<2x4x3x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x8xf32>, tensor<2xi32>) -> tensor<2x4x3x8xf32>
// CHECK: top.reshape %[[R]] {shape = array<i64: 2, 1, 96>}
func.func @heads(%q: tensor<2x1x192xf32>, %k: tensor<2x4x9x16xf32>, %v: tensor<2x4x9x8xf32>, %n: tensor<2xi32>) -> tensor<2x1x96xf32> {
  %0 = top.attention %q, %k, %v lengths %n {scale = 0.25, softcap = 2.0, q_heads = 12, kv_heads = 4, causal = true, q_layout = "BSND", result_layout = "BSND"}
      : (tensor<2x1x192xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x8xf32>, tensor<2xi32>) -> tensor<2x1x96xf32>
  return %0 : tensor<2x1x96xf32>
}

// -----

// A bias of each head becomes one of each row; one that all heads share stays.
// CHECK-LABEL: func.func @bias
// CHECK: %[[B:.*]] = top.reshape %arg3 {shape = array<i64: 2, 2, 9>}
// CHECK: top.attention %{{.*}} bias %[[B]]
// CHECK: top.attention %{{.*}} bias %arg4 {kv_heads = 2 : i64, q_heads = 2 : i64
func.func @bias(%q: tensor<1x4x1x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %b: tensor<4x1x9xf32>, %c: tensor<1x9xf32>) -> (tensor<1x4x1x16xf32>, tensor<1x4x1x16xf32>) {
  %0 = top.attention %q, %k, %v bias %b {scale = 0.25, q_heads = 4, kv_heads = 2} : (tensor<1x4x1x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<4x1x9xf32>) -> tensor<1x4x1x16xf32>
  %1 = top.attention %q, %k, %v bias %c {scale = 0.25, q_heads = 4, kv_heads = 2} : (tensor<1x4x1x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x9xf32>) -> tensor<1x4x1x16xf32>
  return %0, %1 : tensor<1x4x1x16xf32>, tensor<1x4x1x16xf32>
}

// -----

// Rows see other keys than a head's only row: several causal rows, a window, a given place among the keys; sinks belong to heads.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: q_heads = 4
func.func @others(%q: tensor<1x4x1x16xf32>, %r: tensor<1x4x2x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %s: tensor<4xf32>) -> (tensor<1x4x2x16xf32>, tensor<1x4x1x16xf32>, tensor<1x4x1x16xf32>, tensor<1x4x1x16xf32>) {
  %0 = top.attention %r, %k, %v {scale = 0.25, q_heads = 4, kv_heads = 2, causal = true} : (tensor<1x4x2x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x2x16xf32>
  %1 = top.attention %q, %k, %v {scale = 0.25, q_heads = 4, kv_heads = 2, window = array<i64: 3, -1>} : (tensor<1x4x1x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x1x16xf32>
  %2 = top.attention %q, %k, %v {scale = 0.25, q_heads = 4, kv_heads = 2, causal = true, offset = 0 : i64} : (tensor<1x4x1x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x1x16xf32>
  %3 = top.attention %q, %k, %v sinks %s {scale = 0.25, q_heads = 4, kv_heads = 2} : (tensor<1x4x1x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<4xf32>) -> tensor<1x4x1x16xf32>
  return %0, %1, %2, %3 : tensor<1x4x2x16xf32>, tensor<1x4x1x16xf32>, tensor<1x4x1x16xf32>, tensor<1x4x1x16xf32>
}

// -----

// Several rows that see all keys, where they follow each other; a bias may not have to be repeated.
// CHECK-LABEL: func.func @rows
// CHECK: %[[B:.*]] = top.reshape %arg3 {shape = array<i64: 2, 6, 9>}
// CHECK: %[[Q:.*]] = top.reshape %arg0 {shape = array<i64: 1, 2, 6, 16>}
// CHECK: top.attention %[[Q]], %{{.*}} bias %[[B]] {kv_heads = 2 : i64, q_heads = 2 : i64
// CHECK: top.attention %arg0, {{.*}} bias %arg4 {kv_heads = 2 : i64, q_heads = 4 : i64
// CHECK: top.attention %arg5, {{.*}} q_heads = 4 : i64
func.func @rows(%q: tensor<1x4x3x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>, %b: tensor<4x3x9xf32>, %c: tensor<3x9xf32>, %r: tensor<1x3x64xf32>) -> (tensor<1x4x3x16xf32>, tensor<1x4x3x16xf32>, tensor<1x4x3x16xf32>) {
  %0 = top.attention %q, %k, %v bias %b {scale = 0.25, q_heads = 4, kv_heads = 2} : (tensor<1x4x3x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<4x3x9xf32>) -> tensor<1x4x3x16xf32>
  %1 = top.attention %q, %k, %v bias %c {scale = 0.25, q_heads = 4, kv_heads = 2} : (tensor<1x4x3x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<3x9xf32>) -> tensor<1x4x3x16xf32>
  %2 = top.attention %r, %k, %v {scale = 0.25, q_heads = 4, kv_heads = 2, q_layout = "BSND"} : (tensor<1x3x64xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x4x3x16xf32>
  return %0, %1, %2 : tensor<1x4x3x16xf32>, tensor<1x4x3x16xf32>, tensor<1x4x3x16xf32>
}

// -----

// The kernel stores its result in the type to which it is converted.
// CHECK-LABEL: func.func @converted
// CHECK: %[[A:.*]] = top.attention
// CHECK: %[[C:.*]] = top.cast %[[A]] {to = f32} : (tensor<1x2x6x16xf16>) -> tensor<1x2x6x16xf32>
// CHECK: top.reshape %[[C]] {shape = array<i64: 1, 4, 3, 16>}
func.func @converted(%q: tensor<1x4x3x16xf16>, %k: tensor<1x2x9x16xf16>) -> tensor<1x4x3x16xf32> {
  %0 = top.attention %q, %k, %k {scale = 0.25, q_heads = 4, kv_heads = 2} : (tensor<1x4x3x16xf16>, tensor<1x2x9x16xf16>, tensor<1x2x9x16xf16>) -> tensor<1x4x3x16xf16>
  %1 = top.cast %0 {to = f32} : (tensor<1x4x3x16xf16>) -> tensor<1x4x3x16xf32>
  return %1 : tensor<1x4x3x16xf32>
}

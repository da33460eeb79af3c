// RUN: pto-opt --top-fuse-attention --split-input-file %s | FileCheck %s

// BERT: a quotient, a mask that is added, heads behind permutes.
// CHECK-LABEL: func @bert
// CHECK-SAME: (%[[Q:.*]]: tensor<2x5x24xf32>, %[[K:.*]]: tensor<2x7x24xf32>, %[[V:.*]]: tensor<2x7x24xf32>, %[[M:.*]]: tensor<2x1x1x7xf32>)
// CHECK-NEXT: %[[A:.*]] = top.attention %[[Q]], %[[K]], %[[V]] bias %[[M]] {k_layout = "BSND", kv_heads = 3 : i64, q_heads = 3 : i64, q_layout = "BSND", result_layout = "BSND", scale = 2.500000e-01 : f64, v_layout = "BSND"}
// CHECK-NEXT: return %[[A]]
func.func @bert(%q: tensor<2x5x24xf32>, %k: tensor<2x7x24xf32>, %v: tensor<2x7x24xf32>, %m: tensor<2x1x1x7xf32>) -> tensor<2x5x24xf32> {
  %c = arith.constant dense<4.0> : tensor<f32>
  %0 = top.reshape %q {shape = array<i64: 2, 5, 3, 8>} : (tensor<2x5x24xf32>) -> tensor<2x5x3x8xf32>
  %1 = top.permute %0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x8xf32>) -> tensor<2x3x5x8xf32>
  %2 = top.reshape %k {shape = array<i64: 2, 7, 3, 8>} : (tensor<2x7x24xf32>) -> tensor<2x7x3x8xf32>
  %3 = top.permute %2 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x8xf32>) -> tensor<2x3x7x8xf32>
  %4 = top.reshape %v {shape = array<i64: 2, 7, 3, 8>} : (tensor<2x7x24xf32>) -> tensor<2x7x3x8xf32>
  %5 = top.permute %4 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x8xf32>) -> tensor<2x3x7x8xf32>
  %6 = top.matmul %1, %3 {transpose_b = true} : (tensor<2x3x5x8xf32>, tensor<2x3x7x8xf32>) -> tensor<2x3x5x7xf32>
  %7 = top.div %6, %c : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  %8 = top.add %7, %m : (tensor<2x3x5x7xf32>, tensor<2x1x1x7xf32>) -> tensor<2x3x5x7xf32>
  %9 = top.softmax %8 {axis = 3} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %10 = top.matmul %9, %5 : (tensor<2x3x5x7xf32>, tensor<2x3x7x8xf32>) -> tensor<2x3x5x8xf32>
  %11 = top.permute %10 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x8xf32>) -> tensor<2x5x3x8xf32>
  %12 = top.reshape %11 {shape = array<i64: 2, 5, 24>} : (tensor<2x5x3x8xf32>) -> tensor<2x5x24xf32>
  return %12 : tensor<2x5x24xf32>
}

// -----

// torch's scaled_dot_product_attention: factors on Q and on the transpose of K, a Where of a boolean mask that is added,
// rows that are no number become 0.
// CHECK-LABEL: func @torch
// CHECK-SAME: (%[[Q:.*]]: tensor<1x2x5x8xf32>, %[[K:.*]]: tensor<1x2x5x8xf32>, %[[V:.*]]: tensor<1x2x5x8xf32>, %[[M:.*]]: tensor<5x5xi1>)
// CHECK: %[[W:.*]] = top.where %[[M]]
// CHECK-NEXT: %[[A:.*]] = top.attention %[[Q]], %[[K]], %[[V]] bias %[[W]] {kv_heads = 2 : i64, q_heads = 2 : i64, scale = 2.500000e-01 : f64}
// CHECK-NEXT: return %[[A]]
func.func @torch(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x8xf32>, %m: tensor<5x5xi1>) -> tensor<1x2x5x8xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %inf = arith.constant dense<0xFF800000> : tensor<f32>
  %0 = top.mul %q, %s : (tensor<1x2x5x8xf32>, tensor<f32>) -> tensor<1x2x5x8xf32>
  %1 = top.permute %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x5x8xf32>) -> tensor<1x2x8x5xf32>
  %2 = top.mul %1, %s : (tensor<1x2x8x5xf32>, tensor<f32>) -> tensor<1x2x8x5xf32>
  %3 = top.matmul %0, %2 : (tensor<1x2x5x8xf32>, tensor<1x2x8x5xf32>) -> tensor<1x2x5x5xf32>
  %4 = top.where %m, %zero, %inf : (tensor<5x5xi1>, tensor<f32>, tensor<f32>) -> tensor<5x5xf32>
  %5 = top.add %3, %4 : (tensor<1x2x5x5xf32>, tensor<5x5xf32>) -> tensor<1x2x5x5xf32>
  %6 = top.softmax %5 {axis = 3} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %7 = top.compare %6, %6 {mode = "eq"} : (tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xi1>
  %8 = top.not %7 : (tensor<1x2x5x5xi1>) -> tensor<1x2x5x5xi1>
  %9 = top.where %8, %zero, %6 : (tensor<1x2x5x5xi1>, tensor<f32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %10 = top.matmul %9, %v : (tensor<1x2x5x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  return %10 : tensor<1x2x5x8xf32>
}

// -----

// A constant that hides the keys behind each row is a rule, with the offset of its first row.
// CHECK-LABEL: func @causal
// CHECK-NOT: bias
// CHECK: top.attention %{{.*}}, %{{.*}}, %{{.*}} {causal = true, kv_heads = 1 : i64, offset = 1 : i64, q_heads = 1 : i64, scale = 1.000000e+00 : f64}
func.func @causal(%q: tensor<1x1x3x8xf32>, %k: tensor<1x1x4x8xf32>) -> tensor<1x1x3x8xf32> {
  %m = arith.constant dense<[[0.0, 0.0, -1.0e9, -1.0e9], [0.0, 0.0, 0.0, -1.0e9], [0.0, 0.0, 0.0, 0.0]]> : tensor<3x4xf32>
  %0 = top.matmul %q, %k {transpose_b = true} : (tensor<1x1x3x8xf32>, tensor<1x1x4x8xf32>) -> tensor<1x1x3x4xf32>
  %1 = top.add %m, %0 : (tensor<3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf32>
  %2 = top.softmax %1 {axis = 3} : (tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf32>
  %3 = top.matmul %2, %k : (tensor<1x1x3x4xf32>, tensor<1x1x4x8xf32>) -> tensor<1x1x3x8xf32>
  return %3 : tensor<1x1x3x8xf32>
}

// -----

// The same as a Where of a constant condition (after top-storage-types, where booleans are i32).
// CHECK-LABEL: func @causal_where
// CHECK: top.attention %{{.*}}, %{{.*}}, %{{.*}} {causal = true, kv_heads = 1 : i64, offset = 0 : i64,
func.func @causal_where(%q: tensor<1x1x3x8xf16>, %k: tensor<1x1x3x8xf16>) -> tensor<1x1x3x8xf16> {
  %m = arith.constant dense<[[1, 0, 0], [1, 1, 0], [1, 1, 1]]> : tensor<3x3xi32>
  %inf = arith.constant dense<0xFC00> : tensor<f16>
  %0 = top.matmul %q, %k {transpose_b = true} : (tensor<1x1x3x8xf16>, tensor<1x1x3x8xf16>) -> tensor<1x1x3x3xf16>
  %1 = top.where %m, %0, %inf : (tensor<3x3xi32>, tensor<1x1x3x3xf16>, tensor<f16>) -> tensor<1x1x3x3xf16>
  %2 = top.softmax %1 {axis = 3} : (tensor<1x1x3x3xf16>) -> tensor<1x1x3x3xf16>
  %3 = top.matmul %2, %k : (tensor<1x1x3x3xf16>, tensor<1x1x3x8xf16>) -> tensor<1x1x3x8xf16>
  return %3 : tensor<1x1x3x8xf16>
}

// A finite number hides keys as well where each row sees one (the least number of f16), and the least number of f32 in
// any row.
// CHECK-LABEL: func @causal_least
// CHECK: top.attention %{{.*}}, %{{.*}}, %{{.*}} {causal = true, kv_heads = 1 : i64, offset = 0 : i64,
func.func @causal_least(%q: tensor<1x1x3x8xf16>, %k: tensor<1x1x3x8xf16>) -> tensor<1x1x3x8xf16> {
  %m = arith.constant dense<[[0, 1, 1], [0, 0, 1], [0, 0, 0]]> : tensor<3x3xi32>
  %least = arith.constant dense<0xFBFF> : tensor<f16>
  %0 = top.matmul %q, %k {transpose_b = true} : (tensor<1x1x3x8xf16>, tensor<1x1x3x8xf16>) -> tensor<1x1x3x3xf16>
  %1 = top.where %m, %least, %0 : (tensor<3x3xi32>, tensor<f16>, tensor<1x1x3x3xf16>) -> tensor<1x1x3x3xf16>
  %2 = top.softmax %1 {axis = 3} : (tensor<1x1x3x3xf16>) -> tensor<1x1x3x3xf16>
  %3 = top.matmul %2, %k : (tensor<1x1x3x3xf16>, tensor<1x1x3x8xf16>) -> tensor<1x1x3x8xf16>
  return %3 : tensor<1x1x3x8xf16>
}

// CHECK-LABEL: func @masked_least
// CHECK-SAME: %[[M:[a-z0-9]*]]: tensor<3x3xi1>
// CHECK: %[[L:.*]] = arith.constant dense<-3.40282347E+38> : tensor<f32>
// CHECK: %[[W:.*]] = top.where %[[M]], %{{.*}}, %[[L]]
// CHECK: top.attention %{{.*}} bias %[[W]]
func.func @masked_least(%q: tensor<1x1x3x8xf32>, %m: tensor<3x3xi1>) -> tensor<1x1x3x8xf32> {
  %least = arith.constant dense<0xFF7FFFFF> : tensor<f32>
  %0 = top.matmul %q, %q {transpose_b = true} : (tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x1x3x3xf32>
  %1 = top.where %m, %0, %least : (tensor<3x3xi1>, tensor<1x1x3x3xf32>, tensor<f32>) -> tensor<1x1x3x3xf32>
  %2 = top.softmax %1 {axis = 3} : (tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  %3 = top.matmul %2, %q : (tensor<1x1x3x3xf32>, tensor<1x1x3x8xf32>) -> tensor<1x1x3x8xf32>
  return %3 : tensor<1x1x3x8xf32>
}

// -----

// torch 1.13: batches of heads of rank 3, Q, K and V slices of one product.
// CHECK-LABEL: func @rank3
// CHECK: %[[Q:.*]] = top.reshape %{{.*}} {shape = array<i64: 1, 7, 16>}
// CHECK: %[[A:.*]] = top.attention %{{.*}} {k_layout = "BSND", kv_heads = 2 : i64, q_heads = 2 : i64, q_layout = "BSND", result_layout = "BSND", scale = 5.000000e-01 : f64, v_layout = "BSND"}
// CHECK-SAME: -> tensor<1x7x16xf32>
// CHECK: top.reshape %[[A]] {shape = array<i64: 7, 16>}
func.func @rank3(%x: tensor<7x1x48xf32>) -> tensor<7x16xf32> {
  %c = arith.constant dense<2.0> : tensor<f32>
  %0 = top.slice %x {starts = array<i64: 0, 0, 0>, ends = array<i64: 7, 1, 16>, steps = array<i64: 1, 1, 1>} : (tensor<7x1x48xf32>) -> tensor<7x1x16xf32>
  %1 = top.slice %x {starts = array<i64: 0, 0, 16>, ends = array<i64: 7, 1, 32>, steps = array<i64: 1, 1, 1>} : (tensor<7x1x48xf32>) -> tensor<7x1x16xf32>
  %2 = top.slice %x {starts = array<i64: 0, 0, 32>, ends = array<i64: 7, 1, 48>, steps = array<i64: 1, 1, 1>} : (tensor<7x1x48xf32>) -> tensor<7x1x16xf32>
  %3 = top.reshape %0 {shape = array<i64: 7, 2, 8>} : (tensor<7x1x16xf32>) -> tensor<7x2x8xf32>
  %4 = top.permute %3 {perm = array<i64: 1, 0, 2>} : (tensor<7x2x8xf32>) -> tensor<2x7x8xf32>
  %5 = top.reshape %1 {shape = array<i64: 7, 2, 8>} : (tensor<7x1x16xf32>) -> tensor<7x2x8xf32>
  %6 = top.permute %5 {perm = array<i64: 1, 0, 2>} : (tensor<7x2x8xf32>) -> tensor<2x7x8xf32>
  %7 = top.reshape %2 {shape = array<i64: 7, 2, 8>} : (tensor<7x1x16xf32>) -> tensor<7x2x8xf32>
  %8 = top.permute %7 {perm = array<i64: 1, 0, 2>} : (tensor<7x2x8xf32>) -> tensor<2x7x8xf32>
  %9 = top.div %4, %c : (tensor<2x7x8xf32>, tensor<f32>) -> tensor<2x7x8xf32>
  %10 = top.matmul %9, %6 {transpose_b = true} : (tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<2x7x7xf32>
  %11 = top.softmax %10 {axis = 2} : (tensor<2x7x7xf32>) -> tensor<2x7x7xf32>
  %12 = top.matmul %11, %8 : (tensor<2x7x7xf32>, tensor<2x7x8xf32>) -> tensor<2x7x8xf32>
  %13 = top.permute %12 {perm = array<i64: 1, 0, 2>} : (tensor<2x7x8xf32>) -> tensor<7x2x8xf32>
  %14 = top.reshape %13 {shape = array<i64: 7, 16>} : (tensor<7x2x8xf32>) -> tensor<7x16xf32>
  return %14 : tensor<7x16xf32>
}

// -----

// Swin: parts of one packed product, a relative bias, a shift mask in a view of rank 5.
// CHECK-LABEL: func @swin
// CHECK-SAME: (%[[X:.*]]: tensor<4x9x48xf32>, %[[B:.*]]: tensor<1x2x9x9xf32>, %[[M:.*]]: tensor<1x2x1x9x9xf32>)
// CHECK-DAG: top.slice %[[X]] {ends = array<i64: 4, 9, 16>, starts = array<i64: 0, 0, 0>
// CHECK-DAG: top.slice %[[X]] {ends = array<i64: 4, 9, 32>, starts = array<i64: 0, 0, 16>
// CHECK-DAG: top.slice %[[X]] {ends = array<i64: 4, 9, 48>, starts = array<i64: 0, 0, 32>
// CHECK-DAG: %[[E:.*]] = top.expand %[[M]] {shape = array<i64: 2, 2, 1, 9, 9>}
// CHECK: %[[R:.*]] = top.reshape %[[E]] {shape = array<i64: 4, 1, 9, 9>}
// CHECK: %[[S:.*]] = top.add %[[R]], %[[B]] : {{.*}} -> tensor<4x2x9x9xf32>
// CHECK: top.attention %{{.*}} bias %[[S]]
// CHECK-SAME: scale = 2.500000e-01
// CHECK-SAME: -> tensor<4x9x16xf32>
// CHECK-NEXT: return
func.func @swin(%x: tensor<4x9x48xf32>, %b: tensor<1x2x9x9xf32>, %m: tensor<1x2x1x9x9xf32>) -> tensor<4x9x16xf32> {
  %c = arith.constant dense<0.25> : tensor<f32>
  %0 = top.reshape %x {shape = array<i64: 4, 9, 3, 2, 8>} : (tensor<4x9x48xf32>) -> tensor<4x9x3x2x8xf32>
  %1 = top.permute %0 {perm = array<i64: 2, 0, 3, 1, 4>} : (tensor<4x9x3x2x8xf32>) -> tensor<3x4x2x9x8xf32>
  %2 = top.slice %1 {starts = array<i64: 0, 0, 0, 0, 0>, ends = array<i64: 1, 4, 2, 9, 8>, steps = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x4x2x9x8xf32>) -> tensor<1x4x2x9x8xf32>
  %3 = top.reshape %2 {shape = array<i64: 4, 2, 9, 8>} : (tensor<1x4x2x9x8xf32>) -> tensor<4x2x9x8xf32>
  %4 = top.slice %1 {starts = array<i64: 1, 0, 0, 0, 0>, ends = array<i64: 2, 4, 2, 9, 8>, steps = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x4x2x9x8xf32>) -> tensor<1x4x2x9x8xf32>
  %5 = top.reshape %4 {shape = array<i64: 4, 2, 9, 8>} : (tensor<1x4x2x9x8xf32>) -> tensor<4x2x9x8xf32>
  %6 = top.slice %1 {starts = array<i64: 2, 0, 0, 0, 0>, ends = array<i64: 3, 4, 2, 9, 8>, steps = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x4x2x9x8xf32>) -> tensor<1x4x2x9x8xf32>
  %7 = top.reshape %6 {shape = array<i64: 4, 2, 9, 8>} : (tensor<1x4x2x9x8xf32>) -> tensor<4x2x9x8xf32>
  %8 = top.mul %3, %c : (tensor<4x2x9x8xf32>, tensor<f32>) -> tensor<4x2x9x8xf32>
  %9 = top.matmul %8, %5 {transpose_b = true} : (tensor<4x2x9x8xf32>, tensor<4x2x9x8xf32>) -> tensor<4x2x9x9xf32>
  %10 = top.add %9, %b : (tensor<4x2x9x9xf32>, tensor<1x2x9x9xf32>) -> tensor<4x2x9x9xf32>
  %11 = top.reshape %10 {shape = array<i64: 2, 2, 2, 9, 9>} : (tensor<4x2x9x9xf32>) -> tensor<2x2x2x9x9xf32>
  %12 = top.add %11, %m : (tensor<2x2x2x9x9xf32>, tensor<1x2x1x9x9xf32>) -> tensor<2x2x2x9x9xf32>
  %13 = top.reshape %12 {shape = array<i64: 4, 2, 9, 9>} : (tensor<2x2x2x9x9xf32>) -> tensor<4x2x9x9xf32>
  %14 = top.softmax %13 {axis = 3} : (tensor<4x2x9x9xf32>) -> tensor<4x2x9x9xf32>
  %15 = top.matmul %14, %7 : (tensor<4x2x9x9xf32>, tensor<4x2x9x8xf32>) -> tensor<4x2x9x8xf32>
  %16 = top.permute %15 {perm = array<i64: 0, 2, 1, 3>} : (tensor<4x2x9x8xf32>) -> tensor<4x9x2x8xf32>
  %17 = top.reshape %16 {shape = array<i64: 4, 9, 16>} : (tensor<4x9x2x8xf32>) -> tensor<4x9x16xf32>
  return %17 : tensor<4x9x16xf32>
}

// -----

// Decoders: heads of K and V that are repeated (repeat_kv); the transpose of K behind the repetition.
// CHECK-LABEL: func @repeated
// CHECK-SAME: (%[[Q:.*]]: tensor<1x4x5x8xf32>, %[[K:.*]]: tensor<1x2x7x8xf32>, %[[V:.*]]: tensor<1x2x7x8xf32>)
// CHECK-NEXT: %[[S:.*]] = top.reshape %[[Q]] {shape = array<i64: 1, 2, 10, 8>}
// CHECK-NEXT: %[[A:.*]] = top.attention %[[S]], %[[K]], %[[V]] {kv_heads = 2 : i64, q_heads = 2 : i64, scale = 1.000000e+00 : f64}
// CHECK-NEXT: %[[R:.*]] = top.reshape %[[A]] {shape = array<i64: 1, 4, 5, 8>}
// CHECK-NEXT: return %[[R]]
func.func @repeated(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x7x8xf32>, %v: tensor<1x2x7x8xf32>) -> tensor<1x4x5x8xf32> {
  %0 = top.reshape %k {shape = array<i64: 1, 2, 1, 7, 8>} : (tensor<1x2x7x8xf32>) -> tensor<1x2x1x7x8xf32>
  %1 = top.expand %0 {shape = array<i64: 1, 2, 2, 7, 8>} : (tensor<1x2x1x7x8xf32>) -> tensor<1x2x2x7x8xf32>
  %2 = top.reshape %1 {shape = array<i64: 1, 4, 7, 8>} : (tensor<1x2x2x7x8xf32>) -> tensor<1x4x7x8xf32>
  %3 = top.permute %2 {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x4x7x8xf32>) -> tensor<1x4x8x7xf32>
  %4 = top.reshape %v {shape = array<i64: 1, 2, 1, 7, 8>} : (tensor<1x2x7x8xf32>) -> tensor<1x2x1x7x8xf32>
  %5 = top.expand %4 {shape = array<i64: 1, 2, 2, 7, 8>} : (tensor<1x2x1x7x8xf32>) -> tensor<1x2x2x7x8xf32>
  %6 = top.reshape %5 {shape = array<i64: 1, 4, 7, 8>} : (tensor<1x2x2x7x8xf32>) -> tensor<1x4x7x8xf32>
  %7 = top.matmul %q, %3 : (tensor<1x4x5x8xf32>, tensor<1x4x8x7xf32>) -> tensor<1x4x5x7xf32>
  %8 = top.softmax %7 {axis = 3} : (tensor<1x4x5x7xf32>) -> tensor<1x4x5x7xf32>
  %9 = top.matmul %8, %6 : (tensor<1x4x5x7xf32>, tensor<1x4x7x8xf32>) -> tensor<1x4x5x8xf32>
  return %9 : tensor<1x4x5x8xf32>
}

// -----

// f16 exports: casts around the softmax. A function's body: softcap, the softmax in its steps.
// CHECK-LABEL: func @casts
// CHECK: top.attention %{{.*}} {kv_heads = 1 : i64, q_heads = 1 : i64, scale = 1.000000e+00 : f64} : (tensor<1x1x5x8xf16>
// CHECK-NEXT: return
func.func @casts(%q: tensor<1x1x5x8xf16>) -> tensor<1x1x5x8xf16> {
  %0 = top.matmul %q, %q {transpose_b = true} : (tensor<1x1x5x8xf16>, tensor<1x1x5x8xf16>) -> tensor<1x1x5x5xf16>
  %1 = top.cast %0 {to = f32} : (tensor<1x1x5x5xf16>) -> tensor<1x1x5x5xf32>
  %2 = top.softmax %1 {axis = 3} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32>
  %3 = top.cast %2 {to = f16} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf16>
  %4 = top.matmul %3, %q : (tensor<1x1x5x5xf16>, tensor<1x1x5x8xf16>) -> tensor<1x1x5x8xf16>
  return %4 : tensor<1x1x5x8xf16>
}

// CHECK-LABEL: func @spelled
// CHECK: top.attention %{{.*}} {kv_heads = 1 : i64, q_heads = 1 : i64, scale = 5.000000e-01 : f64, softcap = 2.000000e+01 : f64}
// CHECK-NEXT: return
func.func @spelled(%q: tensor<1x1x5x8xf32>) -> tensor<1x1x5x8xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %cap = arith.constant dense<20.0> : tensor<f32>
  %0 = top.mul %q, %s : (tensor<1x1x5x8xf32>, tensor<f32>) -> tensor<1x1x5x8xf32>
  %1 = top.matmul %0, %q {transpose_b = true} : (tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x5xf32>
  %2 = top.div %1, %cap : (tensor<1x1x5x5xf32>, tensor<f32>) -> tensor<1x1x5x5xf32>
  %3 = top.tanh %2 : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32>
  %4 = top.mul %3, %cap : (tensor<1x1x5x5xf32>, tensor<f32>) -> tensor<1x1x5x5xf32>
  %5 = top.reduce_max %4 {axes = array<i64: 3>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x1xf32>
  %6 = top.sub %4, %5 : (tensor<1x1x5x5xf32>, tensor<1x1x5x1xf32>) -> tensor<1x1x5x5xf32>
  %7 = top.exp %6 : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32>
  %8 = top.reduce_sum %7 {axes = array<i64: 3>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x1xf32>
  %9 = top.div %7, %8 : (tensor<1x1x5x5xf32>, tensor<1x1x5x1xf32>) -> tensor<1x1x5x5xf32>
  %10 = top.matmul %9, %q : (tensor<1x1x5x5xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x8xf32>
  return %10 : tensor<1x1x5x8xf32>
}

// -----

// A function's body without a mask: the guard looks at a constant that hides nothing.
// CHECK-LABEL: func @unmasked_body
// CHECK: top.attention %{{.*}} {kv_heads = 1 : i64, q_heads = 1 : i64, scale = 1.000000e+00 : f64}
// CHECK-NEXT: return
func.func @unmasked_body(%q: tensor<1x1x5x8xf32>) -> tensor<1x1x5x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %inf = arith.constant dense<0xFF800000> : tensor<1xf32>
  %bias = arith.constant dense<0.0> : tensor<5x5xf32>
  %0 = top.matmul %q, %q {transpose_b = true} : (tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x5xf32>
  %1 = top.softmax %0 {axis = 3} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32>
  %2 = top.reduce_max %bias {axes = array<i64: 1>} : (tensor<5x5xf32>) -> tensor<5x1xf32>
  %3 = top.compare %2, %inf {mode = "eq"} : (tensor<5x1xf32>, tensor<1xf32>) -> tensor<5x1xi1>
  %4 = top.where %3, %zero, %1 : (tensor<5x1xi1>, tensor<1xf32>, tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32>
  %5 = top.matmul %4, %q : (tensor<1x1x5x5xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x8xf32>
  return %5 : tensor<1x1x5x8xf32>
}

// -----

// Not fused: weights that are also an output, a factor behind the bias, a softmax over queries, a finite number of which
// a whole row may consist.
// CHECK-LABEL: func @refused
// CHECK-NOT: top.attention
func.func @refused(%q: tensor<1x1x5x8xf32>, %b: tensor<5x5xf32>, %m: tensor<5x5xi1>)
    -> (tensor<1x1x5x8xf32>, tensor<1x1x5x5xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %h = arith.constant dense<-1.0e4> : tensor<f32>
  %0 = top.matmul %q, %q {transpose_b = true} : (tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x5xf32>
  %1 = top.softmax %0 {axis = 3} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32>
  %2 = top.matmul %1, %q : (tensor<1x1x5x5xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x8xf32>
  %3 = top.matmul %q, %q {transpose_b = true} : (tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x5xf32>
  %4 = top.add %3, %b : (tensor<1x1x5x5xf32>, tensor<5x5xf32>) -> tensor<1x1x5x5xf32>
  %5 = top.mul %4, %s : (tensor<1x1x5x5xf32>, tensor<f32>) -> tensor<1x1x5x5xf32>
  %6 = top.softmax %5 {axis = 3} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32>
  %7 = top.matmul %6, %q : (tensor<1x1x5x5xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x8xf32>
  %8 = top.matmul %q, %q {transpose_b = true} : (tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x5xf32>
  %9 = top.softmax %8 {axis = 2} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32>
  %10 = top.matmul %9, %q : (tensor<1x1x5x5xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x8xf32>
  %11 = top.matmul %q, %q {transpose_b = true} : (tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x5xf32>
  %12 = top.where %m, %11, %h : (tensor<5x5xi1>, tensor<1x1x5x5xf32>, tensor<f32>) -> tensor<1x1x5x5xf32>
  %13 = top.softmax %12 {axis = 3} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32>
  %14 = top.matmul %13, %q : (tensor<1x1x5x5xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x5x8xf32>
  return %2, %1, %7, %10, %14 : tensor<1x1x5x8xf32>, tensor<1x1x5x5xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>
}

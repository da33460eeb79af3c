// RUN: pto-opt --top-fuse-attention --split-input-file %s | FileCheck %s

// The least number of f16 stands for the least one of f32, cut by top-storage-types: a bias with one row for all may be
// f32. Two attentions share it.
// CHECK-LABEL: func @cut
// CHECK: %[[W:.*]] = top.where %{{.*}} -> tensor<2x1x1x5xf32>
// CHECK-NOT: top.where
// CHECK: top.attention {{.*}} bias %[[W]]
// CHECK: top.attention {{.*}} bias %[[W]]
func.func @cut(%q: tensor<2x1x3x8xf16>, %k: tensor<2x1x5x8xf16>, %m: tensor<2x1x1x5xi1>) -> (tensor<2x1x3x8xf16>, tensor<2x1x3x8xf16>) {
  %least = arith.constant dense<-65504.0> : tensor<f16>
  %0 = top.matmul %q, %k {transpose_b = true} : (tensor<2x1x3x8xf16>, tensor<2x1x5x8xf16>) -> tensor<2x1x3x5xf16>
  %1 = top.where %m, %0, %least : (tensor<2x1x1x5xi1>, tensor<2x1x3x5xf16>, tensor<f16>) -> tensor<2x1x3x5xf16>
  %2 = top.softmax %1 {axis = 3} : (tensor<2x1x3x5xf16>) -> tensor<2x1x3x5xf16>
  %3 = top.matmul %2, %k : (tensor<2x1x3x5xf16>, tensor<2x1x5x8xf16>) -> tensor<2x1x3x8xf16>
  %4 = top.matmul %3, %k {transpose_b = true} : (tensor<2x1x3x8xf16>, tensor<2x1x5x8xf16>) -> tensor<2x1x3x5xf16>
  %5 = top.where %m, %4, %least : (tensor<2x1x1x5xi1>, tensor<2x1x3x5xf16>, tensor<f16>) -> tensor<2x1x3x5xf16>
  %6 = top.softmax %5 {axis = 3} : (tensor<2x1x3x5xf16>) -> tensor<2x1x3x5xf16>
  %7 = top.matmul %6, %k : (tensor<2x1x3x5xf16>, tensor<2x1x5x8xf16>) -> tensor<2x1x3x8xf16>
  return %3, %7 : tensor<2x1x3x8xf16>, tensor<2x1x3x8xf16>
}

// -----

// A constant bias that is f32 beside f16 is rounded as its sum with the scores would be. The batch has two dimensions:
// permutes of heads are layouts.
// CHECK-LABEL: func @windows
// CHECK: %[[BIAS:.*]] = arith.constant {{.*}} : tensor<1x2x3x3xf16>
// CHECK-NOT: top.permute
// CHECK: top.attention {{.*}} bias %[[BIAS]] {{.*}}q_layout = "BSND", {{.*}}result_layout = "BSND"
// CHECK-NOT: top.permute
// CHECK: return
func.func @windows(%x: tensor<2x2x3x2x8xf16>, %k: tensor<2x2x2x3x8xf16>) -> tensor<2x2x3x2x8xf16> {
  %bias = arith.constant dense<0.5> : tensor<1x2x3x3xf32>
  %q = top.permute %x {perm = array<i64: 0, 1, 3, 2, 4>} : (tensor<2x2x3x2x8xf16>) -> tensor<2x2x2x3x8xf16>
  %0 = top.matmul %q, %k {transpose_b = true} : (tensor<2x2x2x3x8xf16>, tensor<2x2x2x3x8xf16>) -> tensor<2x2x2x3x3xf16>
  %1 = top.add %0, %bias : (tensor<2x2x2x3x3xf16>, tensor<1x2x3x3xf32>) -> tensor<2x2x2x3x3xf16>
  %2 = top.softmax %1 {axis = 4} : (tensor<2x2x2x3x3xf16>) -> tensor<2x2x2x3x3xf16>
  %3 = top.matmul %2, %k : (tensor<2x2x2x3x3xf16>, tensor<2x2x2x3x8xf16>) -> tensor<2x2x2x3x8xf16>
  %4 = top.permute %3 {perm = array<i64: 0, 1, 3, 2, 4>} : (tensor<2x2x2x3x8xf16>) -> tensor<2x2x3x2x8xf16>
  return %4 : tensor<2x2x3x2x8xf16>
}

// -----

// Numbers beyond f16 hide keys: such a bias stays f32.
// CHECK-LABEL: func @beyond
// CHECK: top.attention {{.*}} bias %{{.*}}tensor<2x2xf32>
func.func @beyond(%q: tensor<2x1x2x8xf16>, %k: tensor<2x1x2x8xf16>) -> tensor<2x1x2x8xf16> {
  %bias = arith.constant dense<[[0.0, 0.5], [-1.0e+30, 0.0]]> : tensor<2x2xf32>
  %0 = top.matmul %q, %k {transpose_b = true} : (tensor<2x1x2x8xf16>, tensor<2x1x2x8xf16>) -> tensor<2x1x2x2xf16>
  %1 = top.add %0, %bias : (tensor<2x1x2x2xf16>, tensor<2x2xf32>) -> tensor<2x1x2x2xf16>
  %2 = top.softmax %1 {axis = 3} : (tensor<2x1x2x2xf16>) -> tensor<2x1x2x2xf16>
  %3 = top.matmul %2, %k : (tensor<2x1x2x2xf16>, tensor<2x1x2x8xf16>) -> tensor<2x1x2x8xf16>
  return %3 : tensor<2x1x2x8xf16>
}

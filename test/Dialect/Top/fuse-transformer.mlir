// RUN: pto-opt %s --split-input-file --top-fuse | FileCheck %s

// A decomposed normalisation becomes one op with its parameters.
// CHECK: module attributes {top.absorbed = ["std"]}
// CHECK-LABEL: func.func @norm
// CHECK: %[[N:.*]] = top.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {axis = 2 : i64, epsilon = 9.99999{{.*}} : f64}
// CHECK-NOT: top.
// CHECK: return %[[N]]
module {
  func.func @norm(%x: tensor<2x3x8xf32>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x3x8xf32> {
    %two = arith.constant dense<2.0> : tensor<f32>
    %e = arith.constant dense<1.0e-5> : tensor<f32>
    %m = top.reduce_mean %x {axes = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3x1xf32>
    %d = top.sub %x, %m : (tensor<2x3x8xf32>, tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
    %p = top.pow %d, %two : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3x8xf32>
    %v = top.reduce_mean %p {axes = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3x1xf32>
    %q = top.add %e, %v : (tensor<f32>, tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
    %r = top.sqrt %q : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32> loc("std")
    %n = top.div %d, %r : (tensor<2x3x8xf32>, tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
    %k = top.mul %n, %s : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
    %y = top.add %b, %k : (tensor<8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
    return %y : tensor<2x3x8xf32>
  }
}

// -----

// Means over another axis are not a layer normalisation.
// CHECK-LABEL: func.func @other_axis
// CHECK-NOT: layer_norm
func.func @other_axis(%x: tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
  %e = arith.constant dense<1.0e-5> : tensor<f32>
  %m = top.reduce_mean %x {axes = array<i64: 2>} : (tensor<2x8x8xf32>) -> tensor<2x8x1xf32>
  %d = top.sub %x, %m : (tensor<2x8x8xf32>, tensor<2x8x1xf32>) -> tensor<2x8x8xf32>
  %p = top.mul %d, %d : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %v = top.reduce_mean %p {axes = array<i64: 1>} : (tensor<2x8x8xf32>) -> tensor<2x1x8xf32>
  %q = top.add %v, %e : (tensor<2x1x8xf32>, tensor<f32>) -> tensor<2x1x8xf32>
  %r = top.sqrt %q : (tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  %n = top.div %d, %r : (tensor<2x8x8xf32>, tensor<2x1x8xf32>) -> tensor<2x8x8xf32>
  return %n : tensor<2x8x8xf32>
}

// -----

// The keys of an attention: the permute keeps rows whole, the product transposes.
// CHECK-LABEL: func.func @keys
// CHECK: %[[K:.*]] = top.permute %{{.*}} {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x6x3x4xf32>) -> tensor<2x3x6x4xf32>
// CHECK: top.matmul %{{.*}}, %[[K]] {{.*}}transpose_b = true{{.*}} -> tensor<2x3x5x6xf32>
func.func @keys(%q: tensor<2x3x5x4xf32>, %k: tensor<2x6x3x4xf32>) -> tensor<2x3x5x6xf32> {
  %0 = top.permute %k {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x6x3x4xf32>) -> tensor<2x3x4x6xf32>
  %1 = top.matmul %q, %0 : (tensor<2x3x5x4xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x5x6xf32>
  return %1 : tensor<2x3x5x6xf32>
}

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

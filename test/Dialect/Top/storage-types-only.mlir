// RUN: pto-opt %s --top-storage-types=mode=F16 | FileCheck %s --check-prefixes=CHECK,VALUES
// RUN: pto-opt %s --top-storage-types="mode=F16 types-only" | FileCheck %s --check-prefixes=CHECK,TYPES

// The same ops with and without values. Without them only what a maximum reads as well, and what is small, is rounded
// and so found to be out of range.
// VALUES: module attributes {top.clipped = ["weight", "table", "shared", "small"]}
// TYPES: module attributes {top.clipped = ["shared", "small"]}
// CHECK-LABEL: func.func @main
// CHECK: top.gather {{.*}} : (tensor<64x64xf16>, tensor<2xi32>) -> tensor<2x64xf16>
// CHECK: top.matmul {{.*}} : (tensor<2x64xf16>, tensor<64x64xf16>) -> tensor<2x64xf16>
// CHECK: top.matmul {{.*}} : (tensor<2x64xf16>, tensor<64x64xf16>) -> tensor<2x64xf16>
// CHECK: top.matmul {{.*}} : (tensor<2x64xf16>, tensor<64x2xf16>) -> tensor<2x2xf16>
func.func @main(%rows: tensor<2xi32>, %y: tensor<64x64xf32>) -> (tensor<2x2xf32>, tensor<64x64xf32>) {
  %weight = arith.constant dense<1.0e6> : tensor<64x64xf32> loc("weight")
  %table = arith.constant dense<1.0e6> : tensor<64x64xf32> loc("table")
  %shared = arith.constant dense<1.0e6> : tensor<64x64xf32> loc("shared")
  %small = arith.constant dense<1.0e6> : tensor<64x2xf32> loc("small")
  %0 = top.gather %table, %rows {axis = 0} : (tensor<64x64xf32>, tensor<2xi32>) -> tensor<2x64xf32>
  %1 = top.matmul %0, %weight : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32>
  %2 = top.matmul %1, %shared : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32>
  %3 = top.matmul %2, %small : (tensor<2x64xf32>, tensor<64x2xf32>) -> tensor<2x2xf32>
  %4 = top.max %y, %shared : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %3, %4 : tensor<2x2xf32>, tensor<64x64xf32>
}

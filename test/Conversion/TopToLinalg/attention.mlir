// RUN: pto-opt %s --split-input-file --convert-top-to-linalg | FileCheck %s

// Without masks: products and a softmax in f32 between f16 operands; no row can be empty, nothing guards.
// CHECK-LABEL: func.func @plain
// CHECK: linalg.batch_matmul_transpose_b ins(%{{.*}}, %{{.*}} : tensor<3x5x8xf16>, tensor<3x7x8xf16>) outs(%{{.*}} : tensor<3x5x7xf32>)
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NOT: arith.select
// CHECK: arith.maximumf
// CHECK-NOT: arith.maximumf
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.divf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: linalg.batch_matmul ins(%{{.*}}, %{{.*}} : tensor<3x5x7xf16>, tensor<3x7x4xf16>) outs(%{{.*}} : tensor<3x5x4xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @plain(%q: tensor<1x3x5x8xf16>, %k: tensor<1x3x7x8xf16>, %v: tensor<1x3x7x4xf16>) -> tensor<1x3x5x4xf16> {
  %0 = top.attention %q, %k, %v {scale = 0.5, q_heads = 3, kv_heads = 3}
      : (tensor<1x3x5x8xf16>, tensor<1x3x7x8xf16>, tensor<1x3x7x4xf16>) -> tensor<1x3x5x4xf16>
  return %0 : tensor<1x3x5x4xf16>
}

// -----

// Four query heads share a head of K and V: their rows are stacked, K and V are not repeated.
// CHECK-LABEL: func.func @shared
// CHECK-NOT: linalg.transpose
// CHECK: linalg.batch_matmul_transpose_b ins(%{{.*}}, %{{.*}} : tensor<2x20x8xf32>, tensor<2x7x8xf32>) outs(%{{.*}} : tensor<2x20x7xf32>)
// CHECK: linalg.batch_matmul ins(%{{.*}}, %{{.*}} : tensor<2x20x7xf32>, tensor<2x7x8xf32>)
// CHECK: return %{{.*}} : tensor<2x4x5x8xf32>
func.func @shared(%q: tensor<2x4x5x8xf32>, %k: tensor<2x1x7x8xf32>) -> tensor<2x4x5x8xf32> {
  %0 = top.attention %q, %k, %k {scale = 1.0, q_heads = 4, kv_heads = 1}
      : (tensor<2x4x5x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %0 : tensor<2x4x5x8xf32>
}

// -----

// Causal: comparisons of the keys' numbers with limits half a key behind the last visible one. Offset 2 leaves no row
// without keys.
// CHECK-LABEL: func.func @causal
// CHECK: arith.constant dense<{{.*}}2.500000e+00{{.*}}3.500000e+00{{.*}}4.500000e+00
// CHECK: arith.cmpf ole
// CHECK: arith.select
// CHECK-NOT: 3.40282347E+38
// CHECK: return
func.func @causal(%q: tensor<1x1x3x8xf32>, %k: tensor<1x1x5x8xf32>) -> tensor<1x1x3x8xf32> {
  %0 = top.attention %q, %k, %k {scale = 1.0, q_heads = 1, kv_heads = 1, causal = true}
      : (tensor<1x1x3x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) -> tensor<1x1x3x8xf32>
  return %0 : tensor<1x1x3x8xf32>
}

// -----

// A row of minus infinities: the maximum is bounded from below, and the sum so that the quotient is 0.
// CHECK-LABEL: func.func @biased
// CHECK: arith.constant -3.40282347E+38 : f32
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.constant 5.000000e-01 : f32
// CHECK: arith.maximumf
// CHECK: arith.divf
func.func @biased(%q: tensor<1x1x3x8xf32>, %b: tensor<3x3xf16>) -> tensor<1x1x3x8xf32> {
  %0 = top.attention %q, %q, %q bias %b {scale = 1.0, q_heads = 1, kv_heads = 1}
      : (tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>, tensor<3x3xf16>) -> tensor<1x1x3x8xf32>
  return %0 : tensor<1x1x3x8xf32>
}

// RUN: pto-opt %s --plan-global-memory --split-input-file | FileCheck %s
// RUN: pto-opt %s --plan-global-memory=keep-all --split-input-file | FileCheck %s --check-prefix=KEEP

// The second intermediate tensor is dead before the fourth is created: they share bytes, except in a debug build.
// CHECK-LABEL: func.func @main
// CHECK-SAME: top.workspace_bytes = 1024
// KEEP-LABEL: func.func @main
// KEEP-SAME: top.workspace_bytes = 1536
func.func @main(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  // CHECK: top.launch @a
  // CHECK-SAME: places = [#top.place<input, 0>, #top.place<workspace, 0>]
  %0 = top.launch @a ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: top.launch @b
  // CHECK-SAME: places = [#top.place<workspace, 0>, #top.place<workspace, 512>]
  %1 = top.launch @b ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: top.launch @c
  // CHECK-SAME: places = [#top.place<workspace, 512>, #top.place<workspace, 0>]
  %2 = top.launch @c ins(%1 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tensor.collapse_shape %2 [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %t = tensor.expand_shape %s [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  %f = tensor.empty() : tensor<8x4xf32>
  // CHECK: top.launch @d
  // CHECK-SAME: places = [#top.place<workspace, 0>, #top.place<output, 0>]
  %3 = top.launch @d ins(%t : tensor<8x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// -----

// A slice of whole rows, and a slice of it, are read where they are; what they are taken from lives until then.
// CHECK-LABEL: func.func @main
// CHECK-SAME: top.workspace_bytes = 1024
func.func @main(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  // CHECK: top.launch @a
  // CHECK-SAME: places = [#top.place<input, 0>, #top.place<workspace, 0>]
  %0 = top.launch @a ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: top.launch @b
  // CHECK-SAME: places = [#top.place<input, 0>, #top.place<workspace, 512>]
  %1 = top.launch @b ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %rows = tensor.extract_slice %0[1, 0] [3, 8] [1, 1] : tensor<4x8xf32> to tensor<3x8xf32>
  %row = tensor.extract_slice %rows[2, 0] [1, 8] [1, 1] : tensor<3x8xf32> to tensor<1x8xf32>
  %t = tensor.collapse_shape %row [[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
  %f = tensor.empty() : tensor<8xf32>
  // CHECK: top.launch @c
  // CHECK-SAME: places = [#top.place<workspace, 96>, #top.place<workspace, 512>, #top.place<output, 0>]
  %2 = top.launch @c ins(%t, %1 : tensor<8xf32>, tensor<4x8xf32>) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Large weights begin with a line of L2, small ones behind what comes before.
// CHECK: module attributes {top.weight_order = ["inline_constant", "inline_constant_1", "inline_constant_2"]}
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %a = arith.constant dense<1.0> : tensor<4xf32>
  %b = arith.constant dense<2.0> : tensor<1024xf32>
  %c = arith.constant dense<3.0> : tensor<8xf32>
  %e = tensor.empty() : tensor<1024xf32>
  // CHECK: places = [#top.place<input, 0>, #top.place<weights, 0>, #top.place<weights, 512>, #top.place<weights, 4608>, #top.place<output, 0>]
  %0 = top.launch @a ins(%x, %a, %b, %c : tensor<1024xf32>, tensor<4xf32>, tensor<1024xf32>, tensor<8xf32>) outs(%e : tensor<1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}

// -----

// An inline constant is added to the weights section.
// CHECK: module attributes {top.weight_order = ["inline_constant"]}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  // CHECK: places = [#top.place<input, 0>, #top.place<weights, 0>, #top.place<output, 0>]
  %0 = top.launch @a ins(%x, %c : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

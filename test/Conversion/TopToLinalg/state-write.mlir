// RUN: pto-opt %s --convert-top-to-linalg | FileCheck %s
// RUN: pto-opt %s --convert-top-to-linalg=state-writes | FileCheck %s --check-prefix=STAYS

// STAYS-COUNT-2: top.state_write

// One insertion for all batches, at a place where all rows fit.
// CHECK-LABEL: func.func @linear
// CHECK: %[[AT:.*]] = tensor.extract %arg2
// CHECK: arith.maxsi
// CHECK: %[[PLACE:.*]] = arith.minsi
// CHECK: tensor.insert_slice %{{.*}} into %arg0[0, 0, %[[PLACE]], 0] [2, 3, 2, 4] [1, 1, 1, 1]
func.func @linear(%s: tensor<2x3x8x4xf32>, %u: tensor<2x3x2x4xf32>, %at: tensor<1xi32>) -> tensor<2x3x8x4xf32> {
  %0 = top.state_write %s, %u, %at {axis = 2} : (tensor<2x3x8x4xf32>, tensor<2x3x2x4xf32>, tensor<1xi32>) -> tensor<2x3x8x4xf32>
  return %0 : tensor<2x3x8x4xf32>
}

// One per batch and row around the end.
// CHECK-LABEL: func.func @circular
// CHECK-COUNT-4: tensor.insert_slice %{{.*}} [1, 1, 4] [1, 1, 1]
func.func @circular(%s: tensor<2x8x4xf32>, %u: tensor<2x2x4xf32>, %at: tensor<2xi32>) -> tensor<2x8x4xf32> {
  %0 = top.state_write %s, %u, %at {axis = 1, circular = true} : (tensor<2x8x4xf32>, tensor<2x2x4xf32>, tensor<2xi32>) -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}

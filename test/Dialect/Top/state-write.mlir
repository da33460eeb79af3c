// RUN: pto-opt %s --top-storage-types='mode=F16' --split-input-file --verify-diagnostics | FileCheck %s

// Nobody outside sees a state: it has the storage type, and nothing is converted.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[S:.*]]: tensor<8x4xf16> {{.*}}, %[[U:.*]]: tensor<1x4xf32>, %[[AT:.*]]: tensor<1xi32>
// CHECK-SAME: -> (tensor<8x4xf16> {top.state_of = "past"}, tensor<8x4xf32>)
// CHECK: %[[ROW:.*]] = top.cast %[[U]]
// CHECK: top.state_write %[[S]], %[[ROW]], %[[AT]]
func.func @main(%s: tensor<8x4xf32> {top.name = "past", top.state_axis = 0 : i64}, %u: tensor<1x4xf32>, %at: tensor<1xi32> {top.state_position})
    -> (tensor<8x4xf32> {top.state_of = "past"}, tensor<8x4xf32>) {
  %0 = top.state_write %s, %u, %at {axis = 0} : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1xi32>) -> tensor<8x4xf32>
  %1 = top.relu %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

func.func @f(%s: tensor<8x4xf32>, %u: tensor<9x4xf32>, %at: tensor<1xi32>) {
  // expected-error @below {{cannot write 'tensor<9x4xf32>' into 'tensor<8x4xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %0 = top.state_write %s, %u, %at {axis = 0} : (tensor<8x4xf32>, tensor<9x4xf32>, tensor<1xi32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%s: tensor<8x4xf32>, %u: tensor<1x3xf32>, %at: tensor<1xi32>) {
  // expected-error @below {{expects update and state to differ along axis 0 only}}
  // expected-error @below {{failed to infer returned types}}
  %0 = top.state_write %s, %u, %at {axis = 0} : (tensor<8x4xf32>, tensor<1x3xf32>, tensor<1xi32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%s: tensor<2x8x4xf32>, %u: tensor<2x1x4xf32>, %at: tensor<3xi32>) {
  // expected-error @below {{expects one position, or one per index of dimension 0, of i32, got 'tensor<3xi32>'}}
  // expected-error @below {{failed to infer returned types}}
  %0 = top.state_write %s, %u, %at {axis = 1} : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<3xi32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @f(%s: tensor<8x4xf32>, %u: tensor<1x4xf32>, %at: tensor<1xi32>) {
  // expected-error @below {{expects an axis in [0, 2), got 2}}
  // expected-error @below {{failed to infer returned types}}
  %0 = top.state_write %s, %u, %at {axis = 2} : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1xi32>) -> tensor<8x4xf32>
  return
}

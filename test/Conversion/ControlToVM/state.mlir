// RUN: pto-opt %s --convert-control-to-vm --split-input-file --verify-diagnostics | FileCheck %s

// The program has no state: nets take all states of the model and write rows in place, and the last net stores what is
// replaced whole. A branch that gives a state out as it was reads a copy of it.
// CHECK-LABEL: module @m
// CHECK: func.func @main(%[[X:[a-z0-9]*]]: tensor<1x4xf32> {top.name = "x"}, %[[GO:[a-z0-9]*]]: tensor<i1> {top.name = "go"}) -> (tensor<8x4xf32> {top.name = "y"})
// CHECK: ^bb1:
// CHECK: vm.call @device.m_0(%[[X]]) queue 0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
// CHECK: ^bb2:
// CHECK: vm.call @device.m_1() queue 0 : () -> tensor<1x4xf32>
// CHECK: ^bb3(%[[H:.*]]: tensor<1x4xf32>):
// CHECK: %[[Y:.*]] = vm.call @device.m_2(%[[X]], %[[H]]) queue 0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
// CHECK: vm.return %[[Y]]
// CHECK: module @m_0
// CHECK: func.func @main(%{{.*}}: tensor<1x4xf32> {top.name = "x"}) -> (tensor<1x4xf32> {top.name =
// CHECK: module @m_1
// CHECK: func.func @main(%{{.*}}: tensor<8x4xf32> {top.name = "past", top.state_axis = 0 : i64, top.state_new = "present"}, %[[OLD:.*]]: tensor<1x4xf32> {top.name = "h", top.state_axis = -1 : i64, top.state_new = "hn"}, %{{.*}}: tensor<1xi32> {top.name = "state.position", top.state_position})
// CHECK-SAME: top.state_group = "m"
// CHECK-SAME: top.state_rows = 1
// CHECK: return %[[OLD]]
// CHECK: module @m_2
// CHECK: -> (tensor<8x4xf32> {top.name = "result"}, tensor<8x4xf32> {top.name = "present", top.state_of = "past"}, tensor<1x4xf32> {top.name = "hn", top.state_of = "h"})
// CHECK: %[[W:.*]] = top.state_write
// CHECK: %[[ABS:.*]] = top.abs %[[W]]
// CHECK: return %[[ABS]], %[[W]], %{{.*}} :
module @m {
  func.func @main(%past: tensor<8x4xf32> {top.name = "past", top.state_axis = 0 : i64}, %x: tensor<1x4xf32> {top.name = "x"},
                  %go: tensor<i1> {top.name = "go"}, %h: tensor<1x4xf32> {top.name = "h", top.state_axis = -1 : i64},
                  %at: tensor<1xi32> {top.name = "state.position", top.state_position})
      -> (tensor<8x4xf32> {top.name = "y"}, tensor<8x4xf32> {top.name = "present", top.state_of = "past"},
          tensor<1x4xf32> {top.name = "hn", top.state_of = "h"})
      attributes {top.state_rows = 1 : i64, top.state_limit = 8 : i64} {
    %hn = top.if %go then {
      %t = top.tanh %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
      top.yield %t : tensor<1x4xf32>
    } else {
      top.yield %h : tensor<1x4xf32>
    } : (tensor<i1>) -> tensor<1x4xf32>
    %w = top.state_write %past, %x, %at {axis = 0 : i64} : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1xi32>) -> tensor<8x4xf32>
    %y = top.abs %w : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %y, %w, %hn : tensor<8x4xf32>, tensor<8x4xf32>, tensor<1x4xf32>
  }
}

// -----

// A net behind the write cannot read what was there before it.
module @old {
  func.func @main(%past: tensor<8x4xf32> {top.name = "past", top.state_axis = 0 : i64}, %x: tensor<1x4xf32> {top.name = "x"},
                  %go: tensor<i1> {top.name = "go"}, %at: tensor<1xi32> {top.name = "state.position", top.state_position})
      -> (tensor<8x4xf32> {top.name = "y"}, tensor<8x4xf32> {top.name = "present", top.state_of = "past"}) {
    %w = top.state_write %past, %x, %at {axis = 0 : i64} : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1xi32>) -> tensor<8x4xf32>
    %y = top.if %go then {
      // expected-error @+1 {{reads the state 'past' as it was before rows were written into it; read the new value}}
      %t = top.tanh %past : (tensor<8x4xf32>) -> tensor<8x4xf32>
      top.yield %t : tensor<8x4xf32>
    } else {
      %t = top.tanh %w : (tensor<8x4xf32>) -> tensor<8x4xf32>
      top.yield %t : tensor<8x4xf32>
    } : (tensor<i1>) -> tensor<8x4xf32>
    return %y, %w : tensor<8x4xf32>, tensor<8x4xf32>
  }
}

// -----

// Whether rows are written is decided at run time.
module @branch {
  // expected-error @+1 {{the new value of state 'past' is not made of it by writing rows outside of branches and loops}}
  func.func @main(%past: tensor<8x4xf32> {top.name = "past", top.state_axis = 0 : i64}, %x: tensor<8x4xf32> {top.name = "x"},
                  %go: tensor<i1> {top.name = "go"}) -> (tensor<8x4xf32> {top.name = "present", top.state_of = "past"}) {
    %w = top.if %go then {
      %t = top.tanh %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
      top.yield %t : tensor<8x4xf32>
    } else {
      top.yield %past : tensor<8x4xf32>
    } : (tensor<i1>) -> tensor<8x4xf32>
    return %w : tensor<8x4xf32>
  }
}

// -----

module @inside {
  func.func @main(%past: tensor<8x4xf32> {top.name = "past", top.state_axis = 0 : i64}, %x: tensor<1x4xf32> {top.name = "x"},
                  %go: tensor<i1> {top.name = "go"}, %at: tensor<1xi32> {top.name = "state.position", top.state_position})
      -> (tensor<8x4xf32> {top.name = "present", top.state_of = "past"}) {
    %w = top.if %go then {
      // expected-error @+1 {{writes into the state 'past' inside of a branch or loop, or beside another write}}
      %t = top.state_write %past, %x, %at {axis = 0 : i64} : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1xi32>) -> tensor<8x4xf32>
      top.yield %t : tensor<8x4xf32>
    } else {
      top.yield %past : tensor<8x4xf32>
    } : (tensor<i1>) -> tensor<8x4xf32>
    return %w : tensor<8x4xf32>
  }
}

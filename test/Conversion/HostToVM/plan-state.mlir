// RUN: pto-opt %s --plan-global-memory --split-input-file | FileCheck %s
// RUN: pto-opt %s --plan-global-memory --convert-host-to-vm --split-input-file | FileCheck %s --check-prefix=VM
// RUN: pto-opt %s --plan-global-memory --split-input-file --debug-only=plan-global-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEBUG

// Rows are written in place, behind the position; what reads the state as it was moves before the write, and what needs
// that stays behind it. Inputs and outputs are counted without the state.
// DEBUG: state 'past': rows are written in place
// CHECK-LABEL: func.func @main
// CHECK-SAME: vm.state = {bytes = 1024 : i64, limit = 8 : i64, rows = 1 : i64, tensors = [{axis = 0 : i64, name = "past", offset = 512 : i64, output = "present", places = 1 : i64, type = tensor<8x4xf32>}]}
// CHECK: top.launch @old ins(%arg0
// CHECK-SAME: places = [#top.place<state, 512>, #top.place<workspace, 0>]
// CHECK: top.launch @write
// CHECK-SAME: places = [#top.place<input, 0>, #top.place<state, 0>, #top.place<state, 512>]
// CHECK: top.launch @read
// CHECK-SAME: places = [#top.place<state, 512>, #top.place<workspace, 0>, #top.place<output, 0>]
// VM: vm.func @main inputs 1 outputs 1
// VM-SAME: vm.inputs = [{name = "x", type = tensor<1x4xf32>}]
// VM-SAME: vm.outputs = [{name = "y", type = tensor<8x4xf32>}]
// VM-SAME: vm.state = {bytes = 1024
// VM: ^bb0(%{{.*}}: !vm.buffer, %[[Y:.*]]: !vm.buffer, %{{.*}}: !vm.buffer, %[[STATE:.*]]: !vm.buffer):
// VM: %[[WS:.*]] = vm.alloc
// VM: vm.launch @device.old(%[[STATE]], %[[WS]]) offsets = [512, 0]
// VM: vm.launch @device.read(%[[STATE]], %[[WS]], %[[Y]]) offsets = [512, 0, 0]
func.func @main(%past: tensor<8x4xf32> {top.name = "past", top.state_axis = 0 : i64}, %x: tensor<1x4xf32> {top.name = "x"},
                %at: tensor<1xi32> {top.name = "state.position", top.state_position})
    -> (tensor<8x4xf32> {top.name = "y"}, tensor<8x4xf32> {top.name = "present", top.state_of = "past"})
    attributes {top.state_rows = 1 : i64, top.state_limit = 8 : i64} {
  %e = tensor.empty() : tensor<8x4xf32>
  %w = top.launch @write ins(%x, %at : tensor<1x4xf32>, tensor<1xi32>) outs(%past : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o = top.launch @old ins(%past : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = top.launch @read ins(%w, %o : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y, %w : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// The launch that makes the new h reads the old one: two places. The old c is read before the new one is made: one.
// DEBUG: state 'h': two places
// DEBUG: state 'c': replaced in place
// CHECK-LABEL: func.func @main
// CHECK-SAME: vm.state = {bytes = 2048 : i64
// CHECK-SAME: name = "h", offset = 512 : i64, output = "hn", places = 2 : i64
// CHECK-SAME: name = "c", offset = 1536 : i64, output = "cn", places = 1 : i64
// CHECK: top.launch @step
// CHECK-SAME: places = [#top.place<state, 512>, #top.place<state, 1536>, #top.place<state, 1024>]
// CHECK: top.launch @gate
// CHECK-SAME: places = [#top.place<state, 1024>, #top.place<state, 1536>]
func.func @main(%h: tensor<4xf32> {top.name = "h", top.state_axis = -1 : i64}, %c: tensor<4xf32> {top.name = "c", top.state_axis = -1 : i64})
    -> (tensor<4xf32> {top.name = "hn", top.state_of = "h"}, tensor<4xf32> {top.name = "cn", top.state_of = "c"}) {
  %e = tensor.empty() : tensor<4xf32>
  %0 = top.launch @step ins(%h, %c : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = top.launch @gate ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Nets of a program lay out their group alike: the new value's name is the program's, and what any of them replaces
// whole has two places in each.
// DEBUG: state 'c': two places
// CHECK-LABEL: func.func @main
// CHECK-SAME: vm.state = {bytes = 2560 : i64, group = "m"
// CHECK-SAME: name = "h", offset = 512 : i64, output = "hn", places = 2 : i64
// CHECK-SAME: name = "c", offset = 1536 : i64, output = "cn", places = 2 : i64
// CHECK: top.launch @step
// CHECK-SAME: places = [#top.place<state, 512>, #top.place<state, 2048>]
func.func @main(%h: tensor<4xf32> {top.name = "h", top.state_axis = -1 : i64, top.state_new = "hn"},
                %c: tensor<4xf32> {top.name = "c", top.state_axis = -1 : i64, top.state_new = "cn"})
    -> (tensor<4xf32> {top.name = "cn", top.state_of = "c"}) attributes {top.state_group = "m"} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = top.launch @step ins(%h : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

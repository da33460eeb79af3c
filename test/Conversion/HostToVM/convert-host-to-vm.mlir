// RUN: pto-opt %s --plan-global-memory --convert-host-to-vm=keep-all --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: vm.func @main inputs 1 outputs 1
// CHECK-SAME: vm.inputs = [{name = "x", type = tensor<4xf32>}]
// CHECK-SAME: vm.kept = [{layout = "", name = "t", place = #top.place<workspace, 0>, type = tensor<4xf32>}]
// CHECK-SAME: vm.outputs = [{name = "y", type = tensor<4xf32>}]
// CHECK: ^bb0(%[[IN:.*]]: !vm.buffer, %[[OUT:.*]]: !vm.buffer, %{{.*}}: !vm.buffer):
// CHECK: %[[WS:.*]] = vm.alloc 512 : !vm.buffer
// CHECK: vm.launch @device.a(%[[IN]], %[[WS]]) offsets = [0, 0] bytes = [16, 16]
// CHECK: vm.launch @device.b(%[[WS]], %[[OUT]]) offsets = [0, 0] bytes = [16, 16]
// CHECK: vm.wait
// CHECK: vm.return
func.func @main(%x: tensor<4xf32> {top.name = "x"}) -> (tensor<4xf32> {top.name = "y"}) {
  %e = tensor.empty() : tensor<4xf32>
  %0 = top.launch @a ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {names = ["t"], layouts = [""]} -> tensor<4xf32>
  %1 = top.launch @b ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// RUN: pto-opt %s | pto-opt | FileCheck %s

// CHECK: #[[SCALARS:.*]] = affine_map<()[s0] -> (s0 * 12, s0)>

// CHECK-LABEL: vm.func @main inputs 1 outputs 1
vm.func @main inputs 1 outputs 1 {
^bb0(%in: !vm.buffer, %out: !vm.buffer, %weights: !vm.buffer):
  // CHECK: %[[WS:.*]] = vm.alloc 4096 : !vm.buffer
  %ws = vm.alloc 4096 : !vm.buffer
  // CHECK: vm.launch @device.k0(%{{.*}}, %[[WS]]) offsets = [0, 512] bytes = [64, 64]
  vm.launch @device.k0(%in, %ws) offsets = [0, 512] bytes = [64, 64]
  // CHECK: vm.wait
  vm.wait
  // CHECK: vm.launch @host.reshape
  // CHECK-SAME: {reason = "no engine moves sub-byte elements"}
  vm.launch @host.reshape(%ws, %out) offsets = [0, 0] bytes = [64, 64] {reason = "no engine moves sub-byte elements"}
  // CHECK: vm.free %[[WS]]
  vm.free %ws
  // CHECK: vm.return
  vm.return
}

// CHECK: vm.func @sizes
vm.func @sizes inputs 1 outputs 1 attributes {vm.symbols = [{name = "rows", least = 1, greatest = 8, multiple = 1}]} {
^bb0(%in: !vm.buffer, %out: !vm.buffer, %weights: !vm.buffer):
  // CHECK: vm.launch @device.k0(%{{.*}}, %{{.*}}) offsets = [0, 0] bytes = [64, 64] scalars #[[SCALARS]]
  vm.launch @device.k0(%in, %out) offsets = [0, 0] bytes = [64, 64] scalars affine_map<()[s0] -> (s0 * 12, s0)>
  vm.wait
  vm.return
}

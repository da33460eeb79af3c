// RUN: pto-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects 3 block arguments (1 inputs, 1 outputs and the weights), got 2}}
vm.func @main inputs 1 outputs 1 {
^bb0(%in: !vm.buffer, %out: !vm.buffer):
  vm.return
}

// -----

vm.func @main inputs 0 outputs 0 {
^bb0(%weights: !vm.buffer):
  // expected-error @below {{expects a callee @device.<kernel> or @host.<op>, got @k0}}
  vm.launch @k0(%weights) offsets = [0] bytes = [64]
  vm.return
}

// -----

vm.func @main inputs 0 outputs 0 {
^bb0(%weights: !vm.buffer):
  // expected-error @below {{expects one offset and one byte count for each of its 1 buffers, got 2 and 1}}
  vm.launch @device.k0(%weights) offsets = [0, 1] bytes = [64]
  vm.return
}

// -----

vm.func @main inputs 0 outputs 0 {
^bb0(%weights: !vm.buffer):
  // expected-error @below {{expects offsets that are not negative, got -8}}
  vm.launch @device.k0(%weights) offsets = [-8] bytes = [64]
  vm.return
}

// -----

vm.func @main inputs 1 outputs 0 {
^bb0(%in: !vm.buffer, %weights: !vm.buffer):
  // expected-error @below {{expects a reason for running on the host}}
  vm.launch @host.transpose(%in, %in) offsets = [0, 0] bytes = [64, 64]
  vm.return
}

// -----

vm.func @main inputs 0 outputs 0 attributes {vm.symbols = [{name = "rows", least = 1, greatest = 8, multiple = 1}]} {
^bb0(%weights: !vm.buffer):
  // expected-error @below {{expects scalars as functions of the 1 symbols of its function, got affine_map<()[s0, s1] -> (s1)>}}
  vm.launch @device.k0(%weights) offsets = [0] bytes = [64] scalars affine_map<()[s0, s1] -> (s1)>
  vm.return
}

// -----

vm.func @main inputs 0 outputs 0 attributes {vm.symbols = [{name = "rows", least = 1, greatest = 8, multiple = 1}]} {
^bb0(%weights: !vm.buffer):
  // expected-error @below {{expects scalars that are sums of products, got affine_map<()[s0] -> (s0 floordiv 2)>}}
  vm.launch @device.k0(%weights) offsets = [0] bytes = [64] scalars affine_map<()[s0] -> (s0 floordiv 2)>
  vm.return
}

// -----

vm.func @main inputs 0 outputs 0 {
^bb0(%weights: !vm.buffer):
  // expected-error @below {{passes scalars to a host op, which takes none}}
  vm.launch @host.reshape(%weights) offsets = [0] bytes = [64] scalars affine_map<() -> (1)> {reason = "r"}
  vm.return
}

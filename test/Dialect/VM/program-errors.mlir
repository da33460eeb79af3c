// RUN: pto-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: i32) {
  // expected-error @below {{"fadd" is no computation on 'i32'}}
  %b = vm.binary "fadd" %a, %a : i32
  return
}

// -----

func.func @f(%a: i1) {
  // expected-error @below {{i1 has iand, ior and ixor only}}
  %b = vm.binary "iadd" %a, %a : i1
  return
}

// -----

func.func @f(%a: f32) {
  // expected-error @below {{predicate 16 does not exist for 'f32'}}
  %b = vm.compare 16 %a, %a : f32
  return
}

// -----

func.func @f(%a: i32) {
  // expected-error @below {{expects a kernel @device.<op>, @host.<op> or @python.<op>, or a function, got @gpu.add}}
  vm.call @gpu.add(%a) : (i32) -> ()
  return
}

// -----

func.func @f(%a: i32) {
  // expected-error @below {{no function is named @g}}
  vm.call @g(%a) : (i32) -> ()
  return
}

// -----

func.func private @g(i64)
func.func @f(%a: i32) {
  // expected-error @below {{does not fit the types of @g}}
  vm.call @g(%a) : (i32) -> ()
  return
}

// -----

func.func @f(%t: tensor<?x2xf32>) {
  // expected-error @below {{expects 1 extents for 'tensor<?x2xf32>', got 0}}
  %n = vm.new() : () -> tensor<?x2xf32>
  return
}

// -----

func.func @f(%t: tensor<?x2xf32>) {
  // expected-error @below {{dimension 2 of 'tensor<?x2xf32>' does not exist}}
  %n = vm.dim %t, 2 : tensor<?x2xf32> -> i64
  return
}

// -----

func.func @f(%t: tensor<?x2xf32>, %i: i64) {
  // expected-error @below {{expects 2 indices, got 1}}
  %n = vm.load %t[%i] : (tensor<?x2xf32>, i64) -> f32
  return
}

// -----

func.func @f(%t: tensor<2xf32>) -> i32 {
  // expected-error @below {{expects the 1 results of its function}}
  vm.return
}

// -----

func.func @f(%t: tensor<?xf32>) {
  // expected-error @below {{expects a direction for each of 1 tensors, got 2}}
  %n = vm.submit @device.k(%t) directions "in,out" : (tensor<?xf32>)
  return
}

// -----

func.func @f(%t: tensor<?xf32>) {
  // expected-error @below {{'read' is no direction: in, out, inout, none}}
  %n = vm.submit @device.k(%t) directions "read" : (tensor<?xf32>)
  return
}

// -----

func.func @f(%t: tensor<?xf32>) {
  // expected-error @below {{expects a kernel @device.<name>, got @k}}
  %n = vm.submit @k(%t) directions "in" : (tensor<?xf32>)
  return
}

// -----

func.func @f(%t: tensor<?xf32>, %i: i64) {
  // expected-error @below {{expects the same element type on both sides}}
  %n = vm.view %t[%i : i64] () : tensor<?xf32> to tensor<2xi32>
  return
}

// -----

func.func @f(%i: i64) {
  // expected-error @below {{expects 1 extents for 'tensor<?xf32>', got 0}}
  %n = vm.reserve() : () -> tensor<?xf32>
  return
}

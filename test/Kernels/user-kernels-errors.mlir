// RUN: pto-opt %s --build-template-kernels=num-cores=1 --split-input-file --verify-diagnostics

module attributes {pto.target_arch = "a5"} {
  func.func private @k(%a: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @+1 {{has no kernel: example::F is written for a3, not for a5}}
    %r = top.kernel "example::F"(%a) {number = 0 : i64, types = [tensor<4xf32>], bodies = {a3 = {pointers = array<i64: 0, 1>, offsets = array<i64: 0, 0>, scalars = array<i64>, text = ""}}} : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func private @k(%a: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @+1 {{has a text without a kernel}}
    %r = top.kernel "example::F"(%a) {number = 0 : i64, types = [tensor<4xf32>], bodies = {a3 = {pointers = array<i64: 0, 1>, offsets = array<i64: 0, 0>, scalars = array<i64>, text = "module {}"}}} : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func private @k(%a: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @+1 {{has 2 arguments, its text takes 1}}
    %r = top.kernel "example::F"(%a) {number = 0 : i64, types = [tensor<4xf32>], bodies = {a3 = {pointers = array<i64: 0, 1>, offsets = array<i64: 0, 0>, scalars = array<i64>, text = "func.func @f(%in: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} { return }"}}} : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func private @k(%a: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @+1 {{for argument 1, its text takes '!pto.ptr<f16>'}}
    %r = top.kernel "example::F"(%a) {number = 0 : i64, types = [tensor<4xf32>], bodies = {a3 = {pointers = array<i64: 0, 1>, offsets = array<i64: 0, 0>, scalars = array<i64>, text = "func.func @f(%in: !pto.ptr<f32>, %out: !pto.ptr<f16>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} { return }"}}} : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func private @k(%a: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @+1 {{has a text of several kernels}}
    %r = top.kernel "example::F"(%a) {number = 0 : i64, types = [tensor<4xf32>], bodies = {a3 = {pointers = array<i64: 0, 1>, offsets = array<i64: 0, 0>, scalars = array<i64>, text = "func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} { return } func.func @g() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} { return }"}}} : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects its type as number 1 of its types}}
  %r = top.kernel "example::F"(%a) {number = 1 : i64, types = [tensor<4xf32>], bodies = {a3 = {pointers = array<i64: 0, 1>, offsets = array<i64: 0, 0>, scalars = array<i64>, text = ""}}} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects text, pointers, offsets and scalars for "a3"}}
  %r = top.kernel "example::F"(%a) {number = 0 : i64, types = [tensor<4xf32>], bodies = {a3 = {}}} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has 2 operands and results; a pointer for "a3" is another one}}
  %r = top.kernel "example::F"(%a) {number = 0 : i64, types = [tensor<4xf32>], bodies = {a3 = {pointers = array<i64: 2>, offsets = array<i64: 0>, scalars = array<i64>, text = ""}}} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

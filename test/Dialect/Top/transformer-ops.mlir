// RUN: pto-opt %s --split-input-file --verify-diagnostics | pto-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func @logic
func.func @logic(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: top.compare %{{.*}}, %{{.*}} {mode = "lt"} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %0 = top.compare %a, %b {mode = "lt"} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // CHECK: top.not %{{.*}} : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %1 = top.not %0 : (tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK: top.and
  %2 = top.and %0, %1 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK: top.or
  %3 = top.or %2, %1 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK: top.xor
  %4 = top.xor %3, %0 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK: top.where %{{.*}} : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %5 = top.where %4, %a, %b : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}

// Booleans in the storage type of top-storage-types.
// CHECK-LABEL: func @stored
func.func @stored(%a: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: top.compare %{{.*}} -> tensor<4xi32>
  %0 = top.compare %a, %a {mode = "eq"} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = top.not %0 : (tensor<4xi32>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// CHECK-LABEL: func @tensors
func.func @tensors(%x: tensor<4x1xf32>, %t: tensor<9x5xf16>, %i: tensor<2x7xi32>) -> (tensor<2x4x3xf32>, tensor<2x7x5xf16>) {
  // CHECK: top.expand %{{.*}} {shape = array<i64: 2, 4, 3>} : (tensor<4x1xf32>) -> tensor<2x4x3xf32>
  %0 = top.expand %x {shape = array<i64: 2, 4, 3>} : (tensor<4x1xf32>) -> tensor<2x4x3xf32>
  // CHECK: top.gather %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<9x5xf16>, tensor<2x7xi32>) -> tensor<2x7x5xf16>
  %1 = top.gather %t, %i {axis = 0} : (tensor<9x5xf16>, tensor<2x7xi32>) -> tensor<2x7x5xf16>
  return %0, %1 : tensor<2x4x3xf32>, tensor<2x7x5xf16>
}

// CHECK-LABEL: func @norm
func.func @norm(%x: tensor<2x3x8xf16>, %s: tensor<8xf32>) -> tensor<2x3x8xf16> {
  // CHECK: top.layer_norm %{{.*}} {axis = 2 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x3x8xf16>, tensor<8xf32>, tensor<8xf32>)
  %0 = top.layer_norm %x, %s, %s {axis = 2, epsilon = 1.0e-5} : (tensor<2x3x8xf16>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x3x8xf16>
  // CHECK: top.layer_norm %{{.*}} {axis = 1 : i64, centered = false, epsilon
  %1 = top.layer_norm %0 {axis = 1, epsilon = 1.0e-5, centered = false} : (tensor<2x3x8xf16>) -> tensor<2x3x8xf16>
  return %1 : tensor<2x3x8xf16>
}

// -----

func.func @mode(%a: tensor<4xf32>) -> tensor<4xi1> {
  // expected-error @+1 {{attribute 'mode' failed to satisfy constraint: string attribute is eq, lt, le, gt or ge}}
  %0 = top.compare %a, %a {mode = "ne"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @types(%a: tensor<4xf32>, %b: tensor<4xf16>, %c: tensor<4xi1>) -> tensor<4xf32> {
  // expected-error @+2 {{expects values of one element type, got 'f32' and 'f16'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "top.where"(%c, %a, %b) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @expand(%a: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+2 {{cannot expand 4 to 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "top.expand"(%a) {shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @indices(%a: tensor<4xf32>, %i: tensor<2xi8>) -> tensor<2xf32> {
  // expected-error @+2 {{expects indices of type i32 or i64, got 'i8'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "top.gather"(%a, %i) {axis = 0} : (tensor<4xf32>, tensor<2xi8>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @parameter(%a: tensor<4x5xf32>, %s: tensor<4xf32>) -> tensor<4x5xf32> {
  // expected-error @+2 {{expects parameters of the normalised shape 5, got 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "top.layer_norm"(%a, %s) {axis = 1, epsilon = 1.0e-5 : f64} : (tensor<4x5xf32>, tensor<4xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

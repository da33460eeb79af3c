// RUN: pto-opt %s --top-infer-shapes --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @types
// CHECK-SAME: -> (tensor<4xf32>, tensor<7x4xf32>)
func.func @types(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  %n = arith.constant dense<7> : tensor<i64>
  %true = arith.constant dense<true> : tensor<i1>
  %h, %all = top.loop %n, %true, %x : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %t: tensor<4xf32>):
    %r = top.tanh %t : (tensor<4xf32>) -> tensor<4xf32>
    top.yield %go, %r, %r : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  return %h, %all : tensor<4xf32>, tensor<?x4xf32>
}

// -----

func.func @carried(%x: tensor<4xf32>, %n: tensor<i64>, %c: tensor<i1>) -> tensor<4xf32> {
  // expected-error @below {{it carries a tensor<4xf32> into a trip and a tensor<8xf32> out of it (value 0)}}
  %h = top.loop %n, %c, %x : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %t: tensor<4xf32>):
    %r = top.concat %t, %t {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    top.yield %go, %r : tensor<i1>, tensor<8xf32>
  }
  return %h : tensor<4xf32>
}

// -----

func.func @branches(%x: tensor<4xf32>, %y: tensor<2x2xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  // expected-error @below {{its branches give a tensor<4xf32> and a tensor<2x2xf32> as output 0}}
  %r = top.if %c then {
    top.yield %x : tensor<4xf32>
  } else {
    top.yield %y : tensor<2x2xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @lengths(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error @below {{the tensors that it scans have no common length}}
  %r = top.scan %x, %y {states = 0 : i64, reversed_inputs = array<i64: 0, 0>, reversed_outputs = array<i64: 0>}
      : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    top.yield %a : tensor<f32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @condition(%x: tensor<4xf32>, %c: tensor<2xi1>) -> tensor<4xf32> {
  // expected-error @below {{the condition must be one boolean, it is a tensor<2xi1>}}
  %r = top.if %c then {
    top.yield %x : tensor<4xf32>
  } else {
    top.yield %x : tensor<4xf32>
  } : (tensor<2xi1>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @trips(%x: tensor<4xf32>, %n: tensor<f32>, %c: tensor<i1>) -> tensor<4xf32> {
  // expected-error @below {{expects one 64-bit integer as the number of trips and one boolean as the condition, got a tensor<f32> and a tensor<i1>}}
  %h = top.loop %n, %c, %x : (tensor<f32>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %t: tensor<4xf32>):
    top.yield %go, %t : tensor<i1>, tensor<4xf32>
  }
  return %h : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<i64> {
  // expected-error@+1 {{axis 2 is outside of rank 2}}
  %r = top.dim %x {axis = 2 : i64} : (tensor<?x4xf32>) -> tensor<i64>
  return %r : tensor<i64>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<3x5xf32> {
  // expected-error@+1 {{expects a static type that the tensor may have, got 'tensor<3x5xf32>'}}
  %r = top.assume %x : (tensor<?x4xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// -----

func.func @main(%x: tensor<2xi1>) {
  // expected-error@+1 {{the condition must be one boolean}}
  top.require %x, "no" : tensor<2xi1>
  return
}

// -----

func.func @main(%x: tensor<2x3xf32>) -> tensor<3x?xi64> {
  // expected-error@+1 {{gives as many rows of 64-bit integers as the tensor has dimensions, got 'tensor<3x?xi64>'}}
  %r = top.nonzero %x : (tensor<2x3xf32>) -> tensor<3x?xi64>
  return %r : tensor<3x?xi64>
}

// RUN: pto-opt %s --split-input-file --top-legalize-types --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @double
// CHECK: top.host "mul"(%arg0, %arg1) {reason = "elements of type f64"}
// CHECK: top.host "reduce_sum"(%{{.*}}) {parameters = {axes = array<i64: 0>, keepdims = 0 : i64}, reason = "elements of type f64"}
// CHECK: top.host "cast"(%{{.*}}) {reason = "elements of type f64"} : (tensor<f64>) -> tensor<f32>
// CHECK: top.exp %{{.*}} : (tensor<f32>)
func.func @double(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<f32> {
  %0 = top.mul %x, %y : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %1 = top.reduce_sum %0 {axes = array<i64: 0>, keepdims = false} : (tensor<3xf64>) -> tensor<f64>
  %2 = top.cast %1 {to = f32} : (tensor<f64>) -> tensor<f32>
  %3 = top.exp %2 : (tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

// A net has these: i64 with a bound of its inputs, bytes that cannot wrap.
// CHECK-LABEL: @device
// CHECK-NOT: top.host
func.func @device(%i: tensor<3xi64>, %b: tensor<3xui8>) -> (tensor<3xi64>, tensor<3xui8>) {
  %0 = top.mul %i, %i : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %c = arith.constant dense<100> : tensor<ui8>
  %1 = top.max %b, %c : (tensor<3xui8>, tensor<ui8>) -> tensor<3xui8>
  return %0, %1 : tensor<3xi64>, tensor<3xui8>
}

// -----

// What wraps, what is too large, and what reads that; the remainder below 2^31 is the device's again.
// CHECK-LABEL: @wide
// CHECK: top.host "add"(%arg1, %arg1) {reason = "integers from 0 to 510"} : (tensor<3xui8>, tensor<3xui8>)
// CHECK: top.host "mul"({{.*}}reason = "integers from
// CHECK: top.host "min"({{.*}}reason = "integers from
// CHECK: top.add
func.func @wide(%i: tensor<3xi64>, %b: tensor<3xui8>) -> (tensor<3xi64>, tensor<3xui8>) {
  %0 = top.add %b, %b : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  %c = arith.constant dense<1099511627776> : tensor<i64>
  %s = arith.constant dense<77> : tensor<i64>
  %1 = top.mul %i, %c : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %2 = top.min %1, %s : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %3 = top.max %2, %s : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %4 = top.add %3, %s : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  return %4, %0 : tensor<3xi64>, tensor<3xui8>
}

// -----

func.func @neither(%x: tensor<1x2xf64>) -> tensor<1x2xf64> {
  // expected-error @+1 {{computes elements of type f64, which neither the engines nor the host do; cast its operands to float32 or int32}}
  %0 = top.softmax %x {axis = 1 : i64} : (tensor<1x2xf64>) -> tensor<1x2xf64>
  return %0 : tensor<1x2xf64>
}

// -----

func.func @unknown(%x: tensor<2xi64>) -> tensor<2xi64> {
  // expected-error @+1 {{calls 'frobnicate', which the host does not have for these types}}
  %0 = top.host "frobnicate"(%x) {reason = "none"} : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// A counter of a loop is an input of the net in its body: the sum with it is bounded there.
// CHECK-LABEL: @counter
// CHECK-NOT: top.host
func.func @counter(%n: tensor<i64>, %go: tensor<i1>, %x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = top.loop %n, %go, %x : (tensor<i64>, tensor<i1>, tensor<2xi64>) -> tensor<2xi64> {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %h: tensor<2xi64>):
    %1 = top.add %h, %i : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
    top.yield %c, %1 : tensor<i1>, tensor<2xi64>
  }
  return %0 : tensor<2xi64>
}

// RUN: pto-opt %s --split-input-file --top-storage-types=mode=F32 --verify-diagnostics | FileCheck %s

// What the net computes from 64-bit inputs fits 32 bits up to a bound on them, which the runtime checks.
// CHECK-LABEL: @main(
// CHECK-SAME: %arg0: tensor<3xi32> {top.arithmetic_bound, top.index_bound = 46340 : i64, top.type = i64}
func.func @main(%i: tensor<3xi64>) -> tensor<3xi64> {
  %0 = top.mul %i, %i : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// -----

// An input without arithmetic is free, and so is one that is clipped first.
// CHECK-LABEL: @main(
// CHECK-SAME: %arg0: tensor<4xi32> {top.type = i64}, %arg1: tensor<4xi32> {top.arithmetic_bound, top.index_bound = 536870912 : i64, top.type = i64}, %arg2: tensor<4xi32> {top.type = i64}
func.func @main(%i: tensor<4xi64>, %j: tensor<4xi64>, %k: tensor<4xi64>) -> (tensor<4xi64>, tensor<i64>, tensor<4xi64>) {
  %c = arith.constant dense<1000> : tensor<i64>
  %d = arith.constant dense<-1000> : tensor<i64>
  %0 = top.max %i, %k : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %1 = top.reduce_sum %j {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
  %2 = top.min %k, %c : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  %3 = top.max %2, %d : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  %4 = top.mul %3, %3 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return %0, %1, %4 : tensor<4xi64>, tensor<i64>, tensor<4xi64>
}

// -----

// 32-bit integers wrap in the model as well; comparisons are 0 or 1.
// CHECK-LABEL: @main(
// CHECK-SAME: %arg0: tensor<4xi32>, %arg1: tensor<4xi32> {top.type = i64}
func.func @main(%i: tensor<4xi32>, %j: tensor<4xi64>) -> (tensor<4xi32>, tensor<i64>) {
  %0 = top.mul %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = top.compare %j, %j {mode = "eq"} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %2 = top.cast %1 {to = i64} : (tensor<4xi1>) -> tensor<4xi64>
  %3 = top.reduce_sum %2 {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
  return %0, %3 : tensor<4xi32>, tensor<i64>
}

// -----

// No bound on an input helps.
func.func @main(%x: tensor<4xf32>) -> tensor<4xi64> {
  // expected-error @+1 {{its 64-bit integers may be from -9223372036854775808 to 9223372036854775807, and integers are 32 bits wide on the device}}
  %0 = top.cast %x {to = i64} : (tensor<4xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @main(%x: tensor<4xi32>) -> tensor<4xi64> {
  %0 = top.cast %x {to = i64} : (tensor<4xi32>) -> tensor<4xi64>
  // expected-error @+1 {{its 64-bit integers may be from -4294967296 to 4294967294, and integers are 32 bits wide on the device; compute them in int32 or float, or clip what they are made of}}
  %1 = top.add %0, %0 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return %1 : tensor<4xi64>
}

// -----

// An image of bytes is stored as i32, since a cast computes.
// CHECK-LABEL: @main(
// CHECK-SAME: %arg0: tensor<4xi32> {top.type = ui8}
func.func @main(%x: tensor<4xui8>) -> tensor<4xf32> {
  %0 = top.cast %x {to = f32} : (tensor<4xui8>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What is only moved keeps its size.
// CHECK-LABEL: @main(
// CHECK-SAME: %arg0: tensor<2x4xui8>)
func.func @main(%x: tensor<2x4xui8>) -> tensor<4x2xui8> {
  %0 = top.permute %x {perm = array<i64: 1, 0>} : (tensor<2x4xui8>) -> tensor<4x2xui8>
  return %0 : tensor<4x2xui8>
}

// -----

func.func @main(%x: tensor<4xui8>) -> tensor<4xui8> {
  // expected-error @+1 {{its integers of type 'ui8' may be from 0 to 510 and wrap; the device computes them in 32 bits: cast to int32 before, and back behind a Mod or Clip}}
  %0 = top.add %x, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// -----

// A running sum of booleans counts to four, also with the zeros in front of it.
// CHECK-LABEL: @main(
// CHECK-NOT: top.host
// CHECK: top.add {{.*}} tensor<4xi32>
// CHECK: top.add {{.*}} tensor<4xi32>
func.func @main(%x: tensor<4xi1>) -> tensor<4xi64> {
  %0 = top.cast %x {to = i64} : (tensor<4xi1>) -> tensor<4xi64>
  %1 = top.slice %0 {starts = array<i64: 0>, ends = array<i64: 3>, steps = array<i64: 1>} : (tensor<4xi64>) -> tensor<3xi64>
  %2 = top.pad %1 {pads = array<i64: 1, 0>, value = 0.0 : f64} : (tensor<3xi64>) -> tensor<4xi64>
  %3 = top.add %0, %2 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %4 = top.slice %3 {starts = array<i64: 0>, ends = array<i64: 2>, steps = array<i64: 1>} : (tensor<4xi64>) -> tensor<2xi64>
  %5 = top.pad %4 {pads = array<i64: 2, 0>, value = 0.0 : f64} : (tensor<2xi64>) -> tensor<4xi64>
  %6 = top.add %3, %5 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return %6 : tensor<4xi64>
}

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

// Windows, normalisations and functions with parameters.
// CHECK-LABEL: @layers
// CHECK: top.host "conv"(%arg0, %arg1) {parameters = {dilations = array<i64: 1>, group = 1 : i64, layout = "NCHW", pads = array<i64: 1, 1>, strides = array<i64: 1>}
// CHECK: top.host "leaky_relu"({{.*}}alpha = 1.000000e-01 : f64
// CHECK: top.host "max_pool"({{.*}}kernel = array<i64: 2>
// CHECK: top.host "softmax"(
func.func @layers(%x: tensor<1x2x4xf64>, %w: tensor<2x2x3xf64>) -> tensor<1x2x3xf64> {
  %0 = top.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>}
      : (tensor<1x2x4xf64>, tensor<2x2x3xf64>) -> tensor<1x2x4xf64>
  %1 = top.leaky_relu %0 {alpha = 0.1} : (tensor<1x2x4xf64>) -> tensor<1x2x4xf64>
  %2 = top.max_pool %1 {kernel = array<i64: 2>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
      : (tensor<1x2x4xf64>) -> tensor<1x2x3xf64>
  %3 = top.softmax %2 {axis = 2 : i64} : (tensor<1x2x3xf64>) -> tensor<1x2x3xf64>
  return %3 : tensor<1x2x3xf64>
}

// -----

// A float that may be beyond 32 bits, or may not: by a clip, by a function's bounds, by its type, by a clip behind the cast.
// CHECK-LABEL: @to_integers
// CHECK: top.host "cast"(%arg0) {reason = "integers from -9223372036854775808 to 9223372036854775807"}
// CHECK: top.host "cast"(%arg0) {reason = "integers from 0 to 4294967295"}
// CHECK-NOT: top.host
func.func @to_integers(%x: tensor<3xf32>, %h: tensor<3xf16>)
    -> (tensor<3xi64>, tensor<3xui32>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi32>) {
  %0 = top.cast %x {to = i64} : (tensor<3xf32>) -> tensor<3xi64>
  %1 = top.cast %x {to = ui32} : (tensor<3xf32>) -> tensor<3xui32>
  %2 = top.clip %x {min = -5.0, max = 1.0e9} : (tensor<3xf32>) -> tensor<3xf32>
  %3 = top.cast %2 {to = i64} : (tensor<3xf32>) -> tensor<3xi64>
  %c = arith.constant dense<1.0e3> : tensor<f32>
  %4 = top.tanh %x : (tensor<3xf32>) -> tensor<3xf32>
  %5 = top.mul %4, %c : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %6 = top.cast %5 {to = i64} : (tensor<3xf32>) -> tensor<3xi64>
  %7 = top.cast %h {to = i64} : (tensor<3xf16>) -> tensor<3xi64>
  %8 = top.cast %x {to = i64} : (tensor<3xf32>) -> tensor<3xi64>
  %9 = top.clip %8 {min = 0.0, max = 9.0} : (tensor<3xi64>) -> tensor<3xi64>
  %10 = top.cast %x {to = i32} : (tensor<3xf32>) -> tensor<3xi32>
  return %0, %1, %3, %6, %7, %9, %10 : tensor<3xi64>, tensor<3xui32>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi32>
}

// -----

// CHECK-LABEL: @storage
// CHECK: top.host "permute"(%arg0) {{.*}}reason = "elements of type i4"
// CHECK: top.host "cast"({{.*}}reason = "elements of type i4"} : (tensor<2x3xi4>) -> tensor<2x3xi32>
// CHECK: top.cast %{{.*}} {to = f32} : (tensor<2x3xi32>) -> tensor<2x3xf32>
// CHECK: top.encode_float %{{.*}} {overflows, to = f8E5M2} : (tensor<2x3xf32>) -> tensor<2x3xi32>
// CHECK: top.host "bitcast"({{.*}}reason = "bits in another type"} : (tensor<2x3xui8>) -> tensor<2x3xf8E5M2>
func.func @storage(%x: tensor<3x2xi4>) -> tensor<2x3xf8E5M2> {
  %0 = top.permute %x {perm = array<i64: 1, 0>} : (tensor<3x2xi4>) -> tensor<2x3xi4>
  %1 = top.cast %0 {to = f32} : (tensor<2x3xi4>) -> tensor<2x3xf32>
  %2 = top.cast %1 {to = f8E5M2, overflows} : (tensor<2x3xf32>) -> tensor<2x3xf8E5M2>
  return %2 : tensor<2x3xf8E5M2>
}

// -----

func.func @neither(%q: tensor<1x1x2x4xf64>) -> tensor<1x1x2x4xf64> {
  // expected-error @+1 {{computes elements of type f64, which neither the engines nor the host do; cast its operands to float32 or int32}}
  %0 = top.attention %q, %q, %q {scale = 0.5, q_heads = 1, kv_heads = 1}
      : (tensor<1x1x2x4xf64>, tensor<1x1x2x4xf64>, tensor<1x1x2x4xf64>) -> tensor<1x1x2x4xf64>
  return %0 : tensor<1x1x2x4xf64>
}

// -----

// Pools of integers, signs; an input that is an output; a nearest resize keeps the range of bytes.
// CHECK-LABEL: @integers
// CHECK: top.host "max_pool"({{.*}}reason = "integers of type ui8"
// CHECK: top.host "sign"({{.*}}reason = "integers of type i32"
// CHECK: top.resize
// CHECK: %[[C:.*]] = top.host "reshape"(%arg2) {parameters = {shape = array<i64: 2>}, reason = "elements of type f64"}
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %[[C]], %arg3
func.func @integers(%b: tensor<1x1x2x4xui8>, %i: tensor<2xi32>, %d: tensor<2xf64>, %f: tensor<2xf32>)
    -> (tensor<1x1x2x3xui8>, tensor<2xi32>, tensor<1x1x4x8xui8>, tensor<2xf64>, tensor<2xf32>) {
  %0 = top.max_pool %b {kernel = array<i64: 1, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x1x2x4xui8>) -> tensor<1x1x2x3xui8>
  %1 = top.sign %i : (tensor<2xi32>) -> tensor<2xi32>
  %2 = top.resize %b {sizes = array<i64: 1, 1, 4, 8>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = "nearest", coordinates = "asymmetric", nearest_mode = "floor"} : (tensor<1x1x2x4xui8>) -> tensor<1x1x4x8xui8>
  return %0, %1, %2, %d, %f : tensor<1x1x2x3xui8>, tensor<2xi32>, tensor<1x1x4x8xui8>, tensor<2xf64>, tensor<2xf32>
}

// -----

func.func @bits(%x: tensor<3xi4>) -> tensor<3xi4> {
  // expected-error @+1 {{computes elements of type i4, which neither the engines nor the host do}}
  %0 = top.add %x, %x : (tensor<3xi4>, tensor<3xi4>) -> tensor<3xi4>
  return %0 : tensor<3xi4>
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

// -----

// The engines round floats to i32, of which the host packs the lowest bits, and widen what the host unpacked.
// CHECK-LABEL: @packed
// CHECK: %[[I:.*]] = top.cast %arg0 {to = i32} : (tensor<3xf32>) -> tensor<3xi32>
// CHECK: %[[P:.*]] = top.host "cast"(%[[I]]) {{.*}} : (tensor<3xi32>) -> tensor<3xi4>
// CHECK: %[[U:.*]] = top.host "cast"(%[[P]]) {{.*}} : (tensor<3xi4>) -> tensor<3xi32>
// CHECK: top.cast %[[U]] {to = f16} : (tensor<3xi32>) -> tensor<3xf16>
func.func @packed(%x: tensor<3xf32>) -> (tensor<3xi4>, tensor<3xf16>) {
  %0 = top.cast %x {to = i4} : (tensor<3xf32>) -> tensor<3xi4>
  %1 = top.cast %0 {to = f16} : (tensor<3xi4>) -> tensor<3xf16>
  return %0, %1 : tensor<3xi4>, tensor<3xf16>
}

// -----

// Bits of up to 32 are a net's; patterns of more are the host's.
// CHECK-LABEL: @bits
// CHECK: top.bitxor
// CHECK: top.host "bitand"({{.*}}reason = "integers of type i64"
// CHECK: top.host "bitor"({{.*}}reason = "integers of type ui32"
func.func @bits(%b: tensor<3xui8>, %i: tensor<3xi64>, %u: tensor<3xui32>) -> (tensor<3xui8>, tensor<3xi64>, tensor<3xui32>) {
  %c = arith.constant dense<255> : tensor<ui8>
  %0 = top.bitxor %b, %c : (tensor<3xui8>, tensor<ui8>) -> tensor<3xui8>
  %1 = top.bitand %i, %i : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %2 = top.bitor %u, %u : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
  return %0, %1, %2 : tensor<3xui8>, tensor<3xi64>, tensor<3xui32>
}

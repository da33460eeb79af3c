// RUN: pto-opt --top-fold --split-input-file %s | FileCheck %s

// Constants are folded, and the names of the replaced tensors are recorded.
// CHECK: module attributes {top.absorbed = ["r"]}
// CHECK-LABEL: func @constants
func.func @constants(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK: %[[C:.*]] = arith.constant dense<{{\[\[\[\[}}1.000000e+00]], {{\[\[}}2.000000e+00]]]]> : tensor<1x2x1x1xf32>
  // CHECK: top.add %{{.*}}, %[[C]]
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = top.reshape %c {shape = array<i64: 1, 2, 1, 1>} : (tensor<2xf32>) -> tensor<1x2x1x1xf32> loc("r")
  %0 = top.add %x, %r : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %0 : tensor<1x2x3x3xf32>
}

// -----

// CHECK-LABEL: func @evaluate
func.func @evaluate() -> (tensor<2x3xf32>, tensor<3x2xi32>, tensor<4xf16>, tensor<3xi64>, tensor<2xi32>) {
  %a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = arith.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %i = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %s = arith.constant dense<[0.1, 65519.0, 1.0e-8, -2.5]> : tensor<4xf32>
  %l = arith.constant dense<[-7, 7, 9]> : tensor<3xi64>
  %two = arith.constant dense<2> : tensor<i64>
  // CHECK-DAG: dense<{{\[\[}}1.100000e+01, 2.200000e+01, 3.300000e+01], [1.400000e+01, 2.500000e+01, 3.600000e+01]]> : tensor<2x3xf32>
  %0 = top.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-DAG: dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  %1 = top.permute %i {perm = array<i64: 1, 0>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  // Round to nearest even: 65519 stays finite, 1e-8 vanishes.
  // CHECK-DAG: dense<[9.997550e-02, 6.550400e+04, 0.000000e+00, -2.500000e+00]> : tensor<4xf16>
  %2 = top.cast %s {to = f16} : (tensor<4xf32>) -> tensor<4xf16>
  // Integer division truncates.
  // CHECK-DAG: dense<[-3, 3, 4]> : tensor<3xi64>
  %3 = top.div %l, %two : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %4 = top.slice %i {starts = array<i64: 1, 2>, ends = array<i64: 2, 0>, steps = array<i64: 1, -1>} : (tensor<2x3xi32>) -> tensor<1x2xi32>
  // CHECK-DAG: dense<[6, 5]> : tensor<2xi32>
  %5 = top.reshape %4 {shape = array<i64: 2>} : (tensor<1x2xi32>) -> tensor<2xi32>
  return %0, %1, %2, %3, %5 : tensor<2x3xf32>, tensor<3x2xi32>, tensor<4xf16>, tensor<3xi64>, tensor<2xi32>
}

// -----

// CHECK-LABEL: func @concat_pad
func.func @concat_pad() -> tensor<3x4xf32> {
  %a = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %b = arith.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf32>
  // CHECK: dense<{{\[\[}}9.000000e+00, 1.000000e+00, 2.000000e+00, 9.000000e+00], [9.000000e+00, 3.000000e+00, 4.000000e+00, 9.000000e+00], [9.000000e+00, 5.000000e+00, 6.000000e+00, 9.000000e+00]]>
  %0 = top.concat %a, %b {axis = 0} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %1 = top.pad %0 {pads = array<i64: 0, 1, 0, 1>, value = 9.0} : (tensor<3x2xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// Products and batch normalisations of constants.
// CHECK-LABEL: func @products
func.func @products() -> (tensor<2x2x2xf32>, tensor<1x2x2xf32>) {
  %a = arith.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %b = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %bias = arith.constant dense<[0.5, 1.5]> : tensor<2xf32>
  // CHECK-DAG: dense<{{\[\[\[}}1.500000e+00, 3.500000e+00], [2.500000e+00, 5.500000e+00]], {{\[\[}}3.500000e+00, 7.500000e+00], [4.500000e+00, 9.500000e+00]]]> : tensor<2x2x2xf32>
  %0 = top.matmul %a, %b, %bias {transpose_a = true, transpose_b = true}
    : (tensor<2x1x2xf32>, tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2x2xf32>
  %x = arith.constant dense<[[[1.0, 2.0], [3.0, 5.0]]]> : tensor<1x2x2xf32>
  %var = arith.constant dense<[0.75, 3.75]> : tensor<2xf32>
  // (x - 0.5) / 1 * 1 + 0.5 and (x - 1.5) / 2 * 2 + 1.5
  %scale = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK-DAG: dense<{{\[\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 5.000000e+00]]]> : tensor<1x2x2xf32>
  %1 = top.batch_norm %x, %scale, %bias, %bias, %var {epsilon = 0.25 : f64}
    : (tensor<1x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2xf32>
  return %0, %1 : tensor<2x2x2xf32>, tensor<1x2x2xf32>
}

// -----

// An integer division by zero is not folded.
// CHECK-LABEL: func @undefined
func.func @undefined() -> tensor<i32> {
  %a = arith.constant dense<1> : tensor<i32>
  %z = arith.constant dense<0> : tensor<i32>
  // CHECK: top.div
  %0 = top.div %a, %z : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

// CHECK: module attributes {top.absorbed = ["d", "c", "b", "a"]}
// CHECK-LABEL: func @identities
func.func @identities(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<3xf32>
  // CHECK-NEXT: %[[R:.*]] = top.relu %arg0
  // CHECK-NEXT: return %[[R]]
  %r = top.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = top.add %zero, %r : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("a")
  %1 = top.sub %0, %zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32> loc("b")
  %2 = top.mul %1, %one : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("c")
  %3 = top.div %2, %one : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("d")
  return %3 : tensor<2x3xf32>
}

// -----

// 0 - x is not x, and a neutral operand that broadcasts the other one is kept.
// CHECK-LABEL: func @no_identities
func.func @no_identities(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %wide = arith.constant dense<0.0> : tensor<2x3xf32>
  // CHECK: top.sub
  %0 = top.sub %zero, %x : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: top.add
  %1 = top.add %x, %wide : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<3xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func @divisions
func.func @divisions(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  // CHECK-DAG: %[[P:.*]] = arith.constant dense<[2.500000e-01, -2.000000e+00, 1.000000e+00]>
  // CHECK-DAG: %[[SIX:.*]] = arith.constant dense<6.000000e+00>
  %pow = arith.constant dense<[4.0, -0.5, 1.0]> : tensor<3xf32>
  %six = arith.constant dense<6.0> : tensor<f32>
  // CHECK: top.mul %arg0, %[[P]]
  %0 = top.div %x, %pow : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: top.div %arg0, %[[SIX]]
  %1 = top.div %x, %six : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: func @movement
func.func @movement(%x: tensor<2x3x4xf32>) -> (tensor<2x12xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>) {
  // CHECK: top.reshape %arg0 {shape = array<i64: 2, 12>} : (tensor<2x3x4xf32>)
  %0 = top.reshape %x {shape = array<i64: 24>} : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %1 = top.reshape %0 {shape = array<i64: 2, 12>} : (tensor<24xf32>) -> tensor<2x12xf32>
  // CHECK: top.permute %arg0 {perm = array<i64: 2, 0, 1>}
  %2 = top.permute %x {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %3 = top.permute %2 {perm = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  // CHECK: %[[A:.*]] = top.abs
  // CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[A]]
  %4 = top.abs %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %5 = top.permute %4 {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %6 = top.permute %5 {perm = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %1, %3, %6 : tensor<2x12xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>
}

// -----

// Widening and narrowing back is the identity; narrowing and widening loses digits and is kept.
// CHECK-LABEL: func @casts
func.func @casts(%x: tensor<3xf16>, %y: tensor<3xf32>) -> (tensor<3xf16>, tensor<3xf32>, tensor<3xf64>) {
  %r = top.relu %x : (tensor<3xf16>) -> tensor<3xf16>
  // CHECK: %[[R:.*]] = top.relu
  %0 = top.cast %r {to = f32} : (tensor<3xf16>) -> tensor<3xf32>
  %1 = top.cast %0 {to = f16} : (tensor<3xf32>) -> tensor<3xf16>
  // CHECK: top.cast %arg1 {to = f16}
  %2 = top.cast %y {to = f16} : (tensor<3xf32>) -> tensor<3xf16>
  // CHECK: %[[F:.*]] = top.cast %{{.*}} {to = f32}
  %3 = top.cast %2 {to = f32} : (tensor<3xf16>) -> tensor<3xf32>
  // CHECK: %[[D:.*]] = top.cast %arg0 {to = f64}
  %4 = top.cast %x {to = f32} : (tensor<3xf16>) -> tensor<3xf32>
  %5 = top.cast %4 {to = f64} : (tensor<3xf32>) -> tensor<3xf64>
  // CHECK: return %[[R]], %[[F]], %[[D]]
  return %1, %3, %5 : tensor<3xf16>, tensor<3xf32>, tensor<3xf64>
}

// -----

// A net must not return its own argument.
// CHECK-LABEL: func @returns_input
func.func @returns_input(%x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  // CHECK: top.add
  %0 = top.add %x, %zero : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// A softmax in f64 between casts from and to f32 is one in f32, whose sums are in f32; one that others read stays.
// CHECK-LABEL: func @softmax_f64
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: %[[S:.*]] = top.softmax %[[X]] {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[S]]
func.func @softmax_f64(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = top.cast %x {to = f64} : (tensor<2x3xf32>) -> tensor<2x3xf64>
  %1 = top.softmax %0 {axis = 1} : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %2 = top.cast %1 {to = f32} : (tensor<2x3xf64>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// CHECK-LABEL: func @softmax_f64_read
// CHECK: top.softmax %{{.*}} -> tensor<2x3xf64>
func.func @softmax_f64_read(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf64>) {
  %0 = top.cast %x {to = f64} : (tensor<2x3xf32>) -> tensor<2x3xf64>
  %1 = top.softmax %0 {axis = 1} : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %2 = top.cast %1 {to = f32} : (tensor<2x3xf64>) -> tensor<2x3xf32>
  return %2, %1 : tensor<2x3xf32>, tensor<2x3xf64>
}

// -----

// What selects elements is computed as on the host.
// CHECK-LABEL: func.func @select
func.func @select() -> (tensor<1x2xf32>, tensor<1x2xi64>) {
  // CHECK-NOT: top.topk
  // CHECK-DAG: dense<{{\[\[}}4.000000e+00, 3.000000e+00]]> : tensor<1x2xf32>
  // CHECK-DAG: dense<{{\[\[}}1, 3]]> : tensor<1x2xi64>
  %x = arith.constant dense<[[1.0, 4.0, 2.0, 3.0]]> : tensor<1x4xf32>
  %v = top.topk_values %x {k = 2} : (tensor<1x4xf32>) -> tensor<1x2xf32>
  %k = top.topk_indices %x {k = 2} : (tensor<1x4xf32>) -> tensor<1x2xi64>
  return %v, %k : tensor<1x2xf32>, tensor<1x2xi64>
}

// -----

// A slice that takes everything; as an output it stays, since a net must not return its own argument.
// CHECK-LABEL: func @whole_slice
func.func @whole_slice(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: %[[S:.*]] = top.slice %arg0
  %0 = top.slice %x {starts = array<i64: 0, 0>, ends = array<i64: 2, 3>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %[[A:.*]] = top.abs %arg0
  %1 = top.slice %x {starts = array<i64: 0, 0>, ends = array<i64: 2, 3>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = top.abs %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %[[R:.*]] = top.slice %arg0 {{.*}}steps = array<i64: -1, 1>
  %3 = top.slice %x {starts = array<i64: 1, 0>, ends = array<i64: -1, 3>, steps = array<i64: -1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: return %[[S]], %[[A]], %[[R]]
  return %0, %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func @reductions
func.func @reductions() -> (tensor<1x3xf32>, tensor<2xi64>, tensor<i32>, tensor<2x1xf16>) {
  %a = arith.constant dense<[[1.0, -2.0, 3.0], [4.0, 5.0, 0x7FC00000]]> : tensor<2x3xf32>
  %i = arith.constant dense<[[1, 7, 3], [4, -5, 6]]> : tensor<2x3xi64>
  %j = arith.constant dense<[[1, 7, 3], [4, -5, 2147483647]]> : tensor<2x3xi32>
  %h = arith.constant dense<[[1.0, 2.0], [4.0, 5.0]]> : tensor<2x2xf16>
  // CHECK-DAG: dense<{{\[\[}}4.000000e+00, 5.000000e+00, 0x7FC00000]]> : tensor<1x3xf32>
  %0 = top.reduce_max %a {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  // CHECK-DAG: dense<[1, -5]> : tensor<2xi64>
  %1 = top.reduce_min %i {axes = array<i64: 1>, keepdims = false} : (tensor<2x3xi64>) -> tensor<2xi64>
  // CHECK-DAG: dense<-2147483639> : tensor<i32>
  %2 = top.reduce_sum %j {axes = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xi32>) -> tensor<i32>
  // CHECK-DAG: dense<{{\[\[}}1.500000e+00], [4.500000e+00]]> : tensor<2x1xf16>
  %3 = top.reduce_mean %h {axes = array<i64: 1>} : (tensor<2x2xf16>) -> tensor<2x1xf16>
  return %0, %1, %2, %3 : tensor<1x3xf32>, tensor<2xi64>, tensor<i32>, tensor<2x1xf16>
}

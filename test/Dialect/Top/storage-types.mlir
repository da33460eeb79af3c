// RUN: pto-opt %s --top-storage-types=mode=F16 | FileCheck %s
// RUN: pto-opt %s --top-storage-types=mode=F32 | FileCheck %s --check-prefix=F32
// RUN: pto-opt %s --top-storage-types=mode=BF16 | FileCheck %s --check-prefix=BF16
// RUN: not pto-opt %s --top-storage-types=mode=INT3 2>&1 | FileCheck %s --check-prefix=ERR

// Tensors between ops are narrow, the bias and both ends of the net are not;
// 1/3 is rounded to the nearest f16 (0x3555 = 0.33325195).
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>) -> tensor<2x2xf32>
// CHECK-DAG: %[[IN:.*]] = top.cast %[[X]] {to = f16}
// CHECK-DAG: %[[W:.*]] = arith.constant dense<3.332520e-01> : tensor<3x2xf16>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[1.000000e-01, 2.000000e-01]> : tensor<2xf32>
// CHECK: %[[M:.*]] = top.matmul %[[IN]], %[[W]], %[[B]] : (tensor<2x3xf16>, tensor<3x2xf16>, tensor<2xf32>) -> tensor<2x2xf16>
// CHECK: %[[S:.*]] = top.softmax %[[M]] {{.*}} -> tensor<2x2xf16>
// CHECK: %[[Y:.*]] = top.cast %[[S]] {to = f32}
// CHECK: return %[[Y]] : tensor<2x2xf32>

// F32-NOT: f16
// BF16: top.softmax {{.*}} -> tensor<2x2xbf16>
// ERR: error: top-storage-types has no mode 'INT3'; the modes are F32, F16 and BF16
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<0.333333343> : tensor<3x2xf32>
  %b = arith.constant dense<[0.1, 0.2]> : tensor<2xf32>
  %0 = top.matmul %x, %w, %b : (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %1 = top.softmax %0 {axis = 1} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// Constants that are added or multiplied stay f32, as large as the tensor, too; those of other ops are narrowed.
// CHECK-LABEL: func.func @affine
// CHECK: top.mul {{.*}} : (tensor<2x3xf16>, tensor<1xf32>) -> tensor<2x3xf16>
// CHECK: top.add {{.*}} : (tensor<3xf32>, tensor<2x3xf16>) -> tensor<2x3xf16>
// CHECK: top.sub {{.*}} : (tensor<2x3xf16>, tensor<2x3xf32>) -> tensor<2x3xf16>
// CHECK: top.max {{.*}} : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
func.func @affine(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %scale = arith.constant dense<0.1> : tensor<1xf32>
  %shift = arith.constant dense<[0.1, 0.2, 0.3]> : tensor<3xf32>
  %whole = arith.constant dense<[[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]> : tensor<2x3xf32>
  %0 = top.mul %x, %scale : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  %1 = top.add %shift, %0 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = top.sub %1, %whole : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = top.max %2, %whole : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// -----

// Positions beyond 2048 stay f32, and so does what is computed from them and constants; binary ops read them beside f16.
// CHECK-LABEL: @positions
// CHECK: %[[P:.*]] = top.cast %arg0 {to = f32} : (tensor<4xi32>) -> tensor<4xf32>
// CHECK: %[[A:.*]] = top.mul %[[P]], %{{.*}} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK: top.add %[[A]], %{{.*}} : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf16>
func.func @positions(%i: tensor<4xi64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<0.3> : tensor<f32>
  %0 = top.cast %i {to = f32} : (tensor<4xi64>) -> tensor<4xf32>
  %1 = top.mul %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = top.add %1, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Bytes are exact in f16.
// CHECK-LABEL: @bytes
// CHECK: top.cast %arg0 {to = f16}
func.func @bytes(%i: tensor<4xui8>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = top.cast %i {to = f32} : (tensor<4xui8>) -> tensor<4xf32>
  %1 = top.add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A value that is two outputs is widened once.
// CHECK-LABEL: func.func @twice
// CHECK: %[[R:.*]] = top.relu
// CHECK: %[[Y:.*]] = top.cast %[[R]] {to = f32}
// CHECK-NOT: top.cast
// CHECK: return %[[Y]], %[[Y]]
func.func @twice(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = top.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %0 : tensor<2x3xf32>, tensor<2x3xf32>
}

// What a user's kernel reads and writes has the types that it is written for.
// CHECK-LABEL: func.func @kernel
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>)
// CHECK: %[[Y:.*]] = top.relu {{.*}} tensor<4xf16>
// CHECK: %[[WIDE:.*]] = top.cast %[[Y]] {to = f32}
// CHECK: %[[K:.*]] = top.kernel "example::F"(%[[WIDE]], %[[W]]) {{.*}} -> tensor<4xf32>
// CHECK: %[[NARROW:.*]] = top.cast %[[K]] {to = f16}
// CHECK: top.neg %[[NARROW]] : (tensor<4xf16>)
func.func @kernel(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = top.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = top.kernel "example::F"(%0, %w) {number = 0 : i64, types = [tensor<4xf32>], bodies = {}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = top.neg %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Whole numbers that f16 does not hold are scaled before they are rounded, by single numbers that stay f32; casts to
// integers read them as they are.
// CHECK-LABEL: @scales
// CHECK: %[[I:.*]] = top.cast %arg0 {to = f32}
// CHECK: %[[D:.*]] = top.div %arg1, %{{.*}} : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK: %[[M:.*]] = top.mul %[[I]], %[[D]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK: %[[R:.*]] = top.mul %[[M]], %arg1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK: %[[N:.*]] = top.cast %[[R]] {to = f16}
// CHECK: top.relu %[[N]]
// CHECK: top.cast %[[R]] {to = i32}
func.func @scales(%i: tensor<4xi64>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %c = arith.constant dense<255.0> : tensor<f32>
  %0 = top.cast %i {to = f32} : (tensor<4xi64>) -> tensor<4xf32>
  %1 = top.div %s, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = top.mul %0, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = top.mul %2, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = top.relu %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = top.cast %3 {to = i32} : (tensor<4xf32>) -> tensor<4xi32>
  return %4, %5 : tensor<4xf32>, tensor<4xi32>
}

// -----

// A sum that elementwise ops read stays f32 until it meets another tensor; another sum is rounded.
// CHECK-LABEL: @averages
// CHECK: %[[W:.*]] = top.cast %{{.*}} {to = f32} : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK: %[[S:.*]] = top.reduce_sum %[[W]] {{.*}} -> tensor<1x8xf32>
// CHECK: %[[R:.*]] = top.sqrt %[[S]] {{.*}} -> tensor<1x8xf32>
// CHECK: top.div %{{.*}}, %[[R]] : (tensor<4x8xf16>, tensor<1x8xf32>) -> tensor<4x8xf16>
// CHECK: top.reduce_mean %{{.*}} : (tensor<4x8xf16>) -> tensor<4x1xf16>
func.func @averages(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x2xf32>) {
  %0 = top.reduce_sum %x {axes = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %1 = top.sqrt %0 : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %2 = top.div %x, %1 : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %3 = top.reduce_mean %x {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %4 = top.concat %3, %3 {axis = 1} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  return %2, %4 : tensor<4x8xf32>, tensor<4x2xf32>
}

// What is computed from sums and constants alone stays f32, too; ops that are not elementwise read it rounded.
// CHECK-LABEL: @of_averages
// CHECK: %[[S:.*]] = top.reduce_sum {{.*}} -> tensor<1x8xf32>
// CHECK: %[[M:.*]] = top.mul %[[S]], %{{.*}} : (tensor<1x8xf32>, tensor<1xf32>) -> tensor<1x8xf32>
// CHECK: %[[N:.*]] = top.cast %[[M]] {to = f16}
// CHECK: top.softmax %[[N]] {{.*}} -> tensor<1x8xf16>
func.func @of_averages(%x: tensor<4x8xf32>) -> tensor<1x8xf32> {
  %c = arith.constant dense<0.3> : tensor<1xf32>
  %0 = top.reduce_sum %x {axes = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %1 = top.mul %0, %c : (tensor<1x8xf32>, tensor<1xf32>) -> tensor<1x8xf32>
  %2 = top.softmax %1 {axis = 1} : (tensor<1x8xf32>) -> tensor<1x8xf32>
  return %2 : tensor<1x8xf32>
}

// -----

// What is marked as wide reads and makes f32, and so does what has no name between two such ops.
// CHECK-LABEL: func.func @wide
// CHECK: %[[X:.*]] = top.relu {{.*}} -> tensor<2x4xf16>
// CHECK: %[[WIDE:.*]] = top.cast %[[X]] {to = f32}
// CHECK: %[[P:.*]] = top.mul %[[WIDE]], %{{.*}} {top.wide} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK: %[[R:.*]] = top.reshape %[[P]] {{.*}} -> tensor<8xf32>
// CHECK: %[[Q:.*]] = top.sqrt %[[R]] {top.wide} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: %[[NARROW:.*]] = top.cast %[[Q]] {to = f16}
// CHECK: top.neg %[[NARROW]] : (tensor<8xf16>)
func.func @wide(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  %0 = top.relu %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = top.mul %0, %0 {top.wide} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = top.reshape %1 {shape = array<i64: 8>} : (tensor<2x4xf32>) -> tensor<8xf32>
  %3 = top.sqrt %2 {top.wide} : (tensor<8xf32>) -> tensor<8xf32>
  %4 = top.neg %3 : (tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// A tensor of the model is narrow, wherever it is.
// CHECK-LABEL: func.func @named
// CHECK: top.reshape {{.*}} -> tensor<4xf16>
func.func @named(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %0 = top.mul %x, %x {top.wide} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = top.reshape %0 {shape = array<i64: 4>} : (tensor<2x2xf32>) -> tensor<4xf32> loc("y")
  %2 = top.sqrt %1 {top.wide} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Filters of depthwise convolutions stay f32 in either layout; those of plain and grouped ones are narrowed.
// CHECK-LABEL: @filters
// CHECK: top.conv {{.*}} : (tensor<1x2x4x4xf16>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf16>
// CHECK: top.conv {{.*}} : (tensor<1x2x4x4xf16>, tensor<4x1x1x1xf16>) -> tensor<1x4x4x4xf16>
// CHECK: top.conv {{.*}} : (tensor<1x4x4x4xf16>, tensor<2x4x1x1xf16>) -> tensor<1x2x4x4xf16>
// CHECK: top.conv {{.*}} : (tensor<1x2x4x4xf16>, tensor<1x1x1x4xf32>) -> tensor<1x2x4x4xf16>
func.func @filters(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %d = arith.constant dense<0.1> : tensor<2x1x1x1xf32>
  %g = arith.constant dense<0.1> : tensor<4x1x1x1xf32>
  %p = arith.constant dense<0.1> : tensor<2x4x1x1xf32>
  %h = arith.constant dense<0.1> : tensor<1x1x1x4xf32>
  %0 = top.conv %x, %d {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = top.conv %0, %g {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x2x4x4xf32>, tensor<4x1x1x1xf32>) -> tensor<1x4x4x4xf32>
  %2 = top.conv %1, %p {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = top.conv %x, %h {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 4 : i64, layout = "NHWC"} : (tensor<1x2x4x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x2x4x4xf32>
  return %2, %3 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// A product with a constant that f16 holds as subnormals only stays f32 until it meets another tensor.
// CHECK-LABEL: @tiny
// CHECK: %[[T:.*]] = top.mul %arg0, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK: top.add %{{.*}}, %[[T]] : (tensor<2x3xf16>, tensor<2x3xf32>) -> tensor<2x3xf16>
// CHECK: top.mul {{.*}} -> tensor<2x3xf16>
// BF16-LABEL: @tiny
// BF16: top.mul {{.*}} -> tensor<2x3xbf16>
func.func @tiny(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %scale = arith.constant dense<[1.0e-6, 2.0e-6, 6.0e-5]> : tensor<3xf32>
  %wide = arith.constant dense<[1.0e-6, 2.0e-6, 7.0e-5]> : tensor<3xf32>
  %0 = top.mul %x, %scale : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = top.add %y, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = top.mul %x, %wide : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %3 = top.add %y, %2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}

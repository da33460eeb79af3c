// RUN: pto-opt %s --top-sized-transposes --split-input-file | FileCheck %s

// The height of an image stands behind its channels: a matrix [channels, pixels] is turned. A cast goes behind it.
// CHECK-LABEL: func.func @main
// CHECK: %[[M:.*]] = top.reshape %arg0 {shape = array<i64: 3, 5120>}
// CHECK: %[[T:.*]] = top.transpose_rows %[[M]] : (tensor<3x5120xf32>) -> tensor<5120x3xf32>
// CHECK: %[[C:.*]] = top.cast %[[T]]
// CHECK: top.reshape %[[C]] {{.*}}-> tensor<64x80x1x3xf16>
// CHECK: %[[X:.*]] = top.reshape {{.*}}-> tensor<1x64x80x3xf16>
// CHECK-NOT: top.permute
// CHECK: %[[Y:.*]] = top.relu %[[X]]
// CHECK: %[[W:.*]] = top.cast %[[Y]] {{.*}}-> tensor<1x64x80x3xf32>
// CHECK: %[[B:.*]] = top.transpose_rows {{.*}} : (tensor<5120x3xf32>) -> tensor<3x5120xf32>
// CHECK: %[[R:.*]] = top.reshape %[[B]] {{.*}}-> tensor<1x3x64x80xf32>
// CHECK: return %[[R]]
module {
func.func @main(%x: tensor<1x3x64x80xf32> {top.sizes = affine_map<()[s0] -> (1, 3, s0, 80)>})
    -> (tensor<1x3x64x80xf32> {top.sizes = affine_map<()[s0] -> (1, 3, s0, 80)>})
    attributes {top.symbols = [{name = "h", least = 8, greatest = 64, multiple = 1}]} {
  %c = top.cast %x {to = f16} : (tensor<1x3x64x80xf32>) -> tensor<1x3x64x80xf16>
  %p = top.permute %c {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x64x80xf16>) -> tensor<1x64x80x3xf16>
  %r = top.relu %p : (tensor<1x64x80x3xf16>) -> tensor<1x64x80x3xf16>
  %q = top.permute %r {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x64x80x3xf16>) -> tensor<1x3x64x80xf16>
  %w = top.cast %q {to = f32} : (tensor<1x3x64x80xf16>) -> tensor<1x3x64x80xf32>
  return %w : tensor<1x3x64x80xf32>
}
}

// -----

// The width: what lies behind it is permuted as before.
// CHECK-LABEL: func.func @main
// CHECK: top.transpose_rows {{.*}} : (tensor<192x80xf32>) -> tensor<80x192xf32>
// CHECK: top.permute {{.*}} {perm = array<i64: 1, 0, 3, 2>} : (tensor<80x1x3x64xf32>) -> tensor<1x80x64x3xf32>
module {
func.func @main(%x: tensor<1x3x64x80xf32> {top.sizes = affine_map<()[s0] -> (1, 3, 64, s0)>})
    -> (tensor<1x80x64x3xf32> {top.sizes = affine_map<()[s0] -> (1, s0, 64, 3)>})
    attributes {top.symbols = [{name = "w", least = 8, greatest = 80, multiple = 1}]} {
  %p = top.permute %x {perm = array<i64: 0, 3, 2, 1>} : (tensor<1x3x64x80xf32>) -> tensor<1x80x64x3xf32>
  return %p : tensor<1x80x64x3xf32>
}
}

// -----

// A batch stands outermost as it is; without sizes nothing changes.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: top.permute %arg0
// CHECK-NEXT: return
module {
func.func @main(%x: tensor<4x3x64x80xf32> {top.sizes = affine_map<()[s0] -> (s0, 3, 64, 80)>})
    -> (tensor<4x64x80x3xf32> {top.sizes = affine_map<()[s0] -> (s0, 64, 80, 3)>})
    attributes {top.symbols = [{name = "n", least = 1, greatest = 4, multiple = 1}]} {
  %p = top.permute %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<4x3x64x80xf32>) -> tensor<4x64x80x3xf32>
  return %p : tensor<4x64x80x3xf32>
}
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-NEXT: top.permute %arg0
// CHECK-NEXT: return
module {
func.func @main(%x: tensor<1x3x64x80xf32>) -> tensor<1x64x80x3xf32> {
  %p = top.permute %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x64x80xf32>) -> tensor<1x64x80x3xf32>
  return %p : tensor<1x64x80x3xf32>
}
}

// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s --top-layout | FileCheck %s --check-prefix LAYOUT

!a = !quant.uniform<i8:f32, 5.000000e-01:3>
!c0 = !quant.uniform<i8:f32:0, {1.0,2.0,4.0,8.0}>
!c1 = !quant.uniform<i8:f32:1, {1.0,2.0,4.0,8.0}>
!w = !quant.uniform<i8:f32, 5.000000e-01>

// Movement keeps the type; the scaled dimension goes along.
// CHECK-LABEL: @moves
// CHECK: top.reshape {{.*}} -> tensor<12x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK: top.pad {{.*}} -> tensor<15x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK: top.permute {{.*}} -> tensor<5x4x3x!quant.uniform<i8:f32:1, {1.000000e+00,2.000000e+00,4.000000e+00,8.000000e+00}>>
// CHECK: top.reshape {{.*}} -> tensor<1x4x15x!quant.uniform<i8:f32:1,
func.func @moves(%x: tensor<2x6x!a>, %w: tensor<4x3x5x!c0>) -> (tensor<15x!a>, tensor<5x4x3x!c1>, tensor<1x4x15x!c1>) {
  %0 = top.reshape %x {shape = array<i64: 12>} : (tensor<2x6x!a>) -> tensor<12x!a>
  %1 = top.pad %0 {pads = array<i64: 1, 2>} : (tensor<12x!a>) -> tensor<15x!a>
  %2 = top.permute %w {perm = array<i64: 2, 0, 1>} : (tensor<4x3x5x!c0>) -> tensor<5x4x3x!c1>
  %3 = top.reshape %w {shape = array<i64: 1, 4, 15>} : (tensor<4x3x5x!c0>) -> tensor<1x4x15x!c1>
  return %1, %2, %3 : tensor<15x!a>, tensor<5x4x3x!c1>, tensor<1x4x15x!c1>
}

// Channels last, the scales of the filter as well.
// LAYOUT-LABEL: @layout
// LAYOUT: top.conv {{.*}}layout = "NHWC"{{.*}} : (tensor<1x5x5x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<3x3x3x4x!quant.uniform<i8:f32:3,
// LAYOUT: top.relu {{.*}} -> tensor<1x3x3x4x
// LAYOUT: top.dequantize {{.*}} -> tensor<1x3x3x4xf32>
func.func @layout(%x: tensor<1x3x5x5x!a>, %w: tensor<4x3x3x3x!c0>) -> tensor<1x4x3x3xf32> {
  %0 = top.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, to = !w}
      : (tensor<1x3x5x5x!a>, tensor<4x3x3x3x!c0>) -> tensor<1x4x3x3x!w>
  %1 = top.relu %0 : (tensor<1x4x3x3x!w>) -> tensor<1x4x3x3x!w>
  %2 = top.dequantize %1 {to = f32} : (tensor<1x4x3x3x!w>) -> tensor<1x4x3x3xf32>
  return %2 : tensor<1x4x3x3xf32>
}

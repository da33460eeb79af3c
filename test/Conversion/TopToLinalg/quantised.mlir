// RUN: pto-opt %s --convert-top-to-linalg | FileCheck %s

!x = !quant.uniform<i8:f32, 5.000000e-01>
!w = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01,1.0}>
!y = !quant.uniform<i8:f32, 2.500000e-01:-3>

// Sums of i32, then M = sx sw / sy, the zero point, saturation, nearest even.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xi8>, %[[W:[a-z0-9]+]]: tensor<8x3xi8>) -> tensor<4x3xi8>
// CHECK: %[[SUMS:.*]] = linalg.matmul ins(%[[X]], %[[W]] : tensor<4x8xi8>, tensor<8x3xi8>) outs({{.*}} : tensor<4x3xi32>) -> tensor<4x3xi32>
// CHECK: %[[M:.*]] = arith.constant dense<[5.000000e-01, 1.000000e+00, 2.000000e+00]> : tensor<3xf32>
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]], %[[M]] : tensor<4x3xi32>, tensor<3xf32>)
// CHECK: arith.sitofp {{.*}} : i32 to f32
// CHECK: arith.mulf
// CHECK: arith.addf {{.*}}, %cst_{{[0-9]+}}
// CHECK: arith.maximumf
// CHECK: arith.minimumf
// CHECK: math.roundeven
// CHECK: arith.fptosi {{.*}} : f32 to i8
func.func @product(%x: tensor<4x8x!x>, %w: tensor<8x3x!w>) -> tensor<4x3x!y> {
  %0 = top.matmul %x, %w {to = !y} : (tensor<4x8x!x>, tensor<8x3x!w>) -> tensor<4x3x!y> loc("y")
  return %0 : tensor<4x3x!y>
}

// A relu behind a product is the least number: the zero point.
// CHECK-LABEL: func.func @relu(
// CHECK: %[[LEAST:.*]] = arith.constant -3.000000e+00 : f32
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK-NOT: arith.maximumf
// CHECK: return
func.func @relu(%x: tensor<4x8x!x>, %w: tensor<8x3x!w>) -> tensor<4x3x!y> {
  %0 = top.matmul %x, %w {to = !y} : (tensor<4x8x!x>, tensor<8x3x!w>) -> tensor<4x3x!y> loc("y")
  %1 = top.relu %0 : (tensor<4x3x!y>) -> tensor<4x3x!y> loc("r")
  return %1 : tensor<4x3x!y>
}

// CHECK-LABEL: func.func @ends(
// CHECK: arith.divf
// CHECK: math.roundeven
// CHECK: arith.addf
// CHECK: arith.fptosi {{.*}} : f32 to i8
// CHECK: arith.sitofp {{.*}} : i8 to f32
// CHECK: arith.subf
// CHECK: arith.mulf
func.func @ends(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = top.quantize %x {to = !y} : (tensor<4x8xf32>) -> tensor<4x8x!y>
  %1 = top.dequantize %0 {to = f32} : (tensor<4x8x!y>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// What pads is the zero point.
// CHECK-LABEL: func.func @pads(
// CHECK: %[[ZERO:.*]] = arith.constant -3 : i8
// CHECK: tensor.pad
// CHECK: tensor.yield %[[ZERO]] : i8
func.func @pads(%x: tensor<4x8x!y>) -> tensor<5x8x!y> {
  %0 = top.pad %x {pads = array<i64: 0, 0, 1, 0>} : (tensor<4x8x!y>) -> tensor<5x8x!y>
  return %0 : tensor<5x8x!y>
}

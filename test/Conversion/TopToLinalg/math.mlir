// RUN: pto-opt %s --split-input-file --convert-top-to-linalg | FileCheck %s

// Constants become scalars in the body; broadcast dimensions are dropped from the map.
// CHECK: #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-LABEL: func.func @broadcast
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x3x4xf32>)
// CHECK: %[[C:.*]] = arith.constant 6.000000e+00 : f32
// CHECK: arith.divf %{{.*}}, %[[C]]
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2]] : tensor<1x1x4xf32> into tensor<4xf32>
// CHECK: arith.addf
func.func @broadcast(%x: tensor<2x3x4xf32>, %y: tensor<1x1x4xf32>) -> tensor<2x3x4xf32> {
  %c = arith.constant dense<6.0> : tensor<f32>
  %0 = top.div %x, %c : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %1 = top.add %0, %y : (tensor<2x3x4xf32>, tensor<1x1x4xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// -----

// A tile reduces along rows or along columns, not along both. The shape of the named tensor is recorded.
// CHECK: module attributes {top.shapes = {mean = array<i64: 1, 3, 1>}}
// CHECK-LABEL: func.func @mean
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<2x3xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]{{.*}} outs(%{{.*}} : tensor<3xf32>)
// CHECK: %[[N:.*]] = arith.constant 8.000000e+00 : f32
// CHECK: arith.divf %{{.*}}, %[[N]]
// CHECK: tensor.expand_shape {{.*}} : tensor<3xf16> into tensor<1x3x1xf16>
func.func @mean(%x: tensor<2x3x4xf16>) -> tensor<1x3x1xf16> {
  %0 = top.reduce_mean %x {axes = array<i64: 0, 2>} : (tensor<2x3x4xf16>) -> tensor<1x3x1xf16> loc("mean")
  return %0 : tensor<1x3x1xf16>
}

// -----

// Adjacent rows of pixels give columns for all cores; their partial sums are reduced in turn.
// CHECK-LABEL: func.func @pool
// CHECK: tensor.expand_shape {{.*}} into tensor<1x120x128x24xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel", "parallel"]{{.*}} outs(%{{.*}} : tensor<1x128x24xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]{{.*}} outs(%{{.*}} : tensor<1x24xf32>)
// CHECK-NOT: "reduction"
// CHECK: return
func.func @pool(%x: tensor<1x160x96x24xf32>) -> tensor<1x1x1x24xf32> {
  %0 = top.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<1x160x96x24xf32>) -> tensor<1x1x1x24xf32>
  return %0 : tensor<1x1x1x24xf32>
}

// -----

// With a prime number of rows of pixels each row is summed separately.
// CHECK-LABEL: func.func @prime
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel"]{{.*}} outs(%{{.*}} : tensor<1x32771x24xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]{{.*}} outs(%{{.*}} : tensor<1x24xf32>)
func.func @prime(%x: tensor<1x32771x1x24xf32>) -> tensor<1x1x1x24xf32> {
  %0 = top.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<1x32771x1x24xf32>) -> tensor<1x1x1x24xf32>
  return %0 : tensor<1x1x1x24xf32>
}

// -----

// Few rows, or many columns: a single reduction.
// CHECK-LABEL: func.func @few
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction", "parallel"]{{.*}} outs(%{{.*}} : tensor<1x512xf32>)
// CHECK-NOT: "reduction"
// CHECK: return
func.func @few(%x: tensor<1x7x7x512xf32>) -> tensor<1x1x1x512xf32> {
  %0 = top.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<1x7x7x512xf32>) -> tensor<1x1x1x512xf32>
  return %0 : tensor<1x1x1x512xf32>
}

// -----

// CHECK-LABEL: func.func @matmul
// CHECK: linalg.broadcast ins(%{{.*}} : tensor<5xf32>) outs(%{{.*}} : tensor<6x5xf32>) dimensions = [0]
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<6x4xf32>, tensor<4x5xf32>)
// CHECK: linalg.batch_matmul_transpose_b ins(%{{.*}}, %{{.*}} : tensor<2x3x5xf32>, tensor<2x7x5xf32>)
func.func @matmul(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>, %y: tensor<2x7x5xf32>) -> tensor<2x3x7xf32> {
  %0 = top.matmul %x, %w, %b : (tensor<2x3x4xf32>, tensor<4x5xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  %1 = top.matmul %0, %y {transpose_b = true} : (tensor<2x3x5xf32>, tensor<2x7x5xf32>) -> tensor<2x3x7xf32>
  return %1 : tensor<2x3x7xf32>
}

// -----

// Constant exponents: products and square roots for few quarters; else exp and log, with the bits of x in f32.
// CHECK-LABEL: func.func @pow
// CHECK: arith.divf
// CHECK: math.sqrt
// CHECK-NOT: math.log
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: math.log
// CHECK: math.exp
// CHECK-NOT: math.powf
func.func @pow(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.constant dense<-1.5> : tensor<f32>
  %b = arith.constant dense<0.3> : tensor<f32>
  %0 = top.pow %x, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = top.pow %0, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Six factors in f32, 64 in f16, whose results have fewer digits than what is computed in f32.
// CHECK-LABEL: func.func @pow_of_many_factors
// CHECK: arith.bitcast
// CHECK-LABEL: func.func @pow_f16
// CHECK-NOT: arith.bitcast
// CHECK-NOT: math.exp
// CHECK: math.log
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: math.exp
func.func @pow_of_many_factors(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.constant dense<7.0> : tensor<f32>
  %0 = top.pow %x, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @pow_f16(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  %a = arith.constant dense<7.0> : tensor<f16>
  %0 = top.pow %x, %a : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %1 = top.pow %0, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  return %1 : tensor<4xf16>
}

// -----

// Codes of floats of 8 bits by additions and shifts of bits of f32: no logic of 32 bits, which a3 lacks.
// CHECK-LABEL: func.func @encode
// CHECK-NOT: arith.andi
// CHECK-NOT: arith.ori
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.shrsi
func.func @encode(%x: tensor<4xf16>) -> tensor<4xi32> {
  %0 = top.encode_float %x {overflows, to = f8E5M2} : (tensor<4xf16>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: func.func @decode
// CHECK-NOT: arith.andi
// CHECK: arith.shli
// CHECK: arith.bitcast %{{.*}} : i32 to f32
func.func @decode(%x: tensor<4xi32>) -> tensor<4xf32> {
  %0 = top.decode_float %x {from = f8E4M3FNUZ} : (tensor<4xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @bits
// CHECK: arith.andi %{{.*}} : i16
// CHECK: arith.xori
// CHECK: arith.ori
func.func @bits(%x: tensor<4xi16>, %y: tensor<4xi16>) -> tensor<4xi16> {
  %0 = top.bitand %x, %y : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  %1 = top.bitxor %0, %y : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  %2 = top.bitor %1, %y : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  return %2 : tensor<4xi16>
}

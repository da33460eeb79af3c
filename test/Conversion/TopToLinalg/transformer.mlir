// RUN: pto-opt %s --split-input-file --convert-top-to-linalg | FileCheck %s

// Booleans are i1 in a body; as tensors they have the type of the op.
// CHECK-LABEL: func.func @where
// CHECK: %[[C:.*]] = arith.cmpf olt
// CHECK: arith.extui %[[C]] : i1 to i32
// CHECK: ^bb0(%[[B:.*]]: i32, %{{.*}}: f16
// CHECK: arith.cmpi ne, %[[B]]
// CHECK: arith.select %{{.*}} : f16
func.func @where(%x: tensor<2x3xf16>, %y: tensor<3xf16>) -> tensor<2x3xf16> {
  %0 = top.compare %x, %y {mode = "lt"} : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xi32>
  %1 = top.where %0, %x, %y : (tensor<2x3xi32>, tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xf16>
  return %1 : tensor<2x3xf16>
}

// -----

// Negative indices count from the end; the result is clamped to the table.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @gather
// CHECK: linalg.generic {indexing_maps = [#[[ROWS]], #{{.*}}]{{.*}} ins(%{{.*}} : tensor<2x7xi32>)
// CHECK: arith.cmpi slt
// CHECK: arith.select
// CHECK: arith.maxsi
// CHECK: %[[CUT:.*]] = arith.minsi
// CHECK: %[[ROW:.*]] = arith.index_cast %[[CUT]] : i32 to index
// CHECK: %[[COL:.*]] = linalg.index 2
// CHECK: tensor.extract %{{.*}}[%[[ROW]], %[[COL]]] : tensor<9x5xf16>
func.func @gather(%t: tensor<9x5xf16>, %i: tensor<2x7xi32>) -> tensor<2x7x5xf16> {
  %0 = top.gather %t, %i {axis = 0} : (tensor<9x5xf16>, tensor<2x7xi32>) -> tensor<2x7x5xf16>
  return %0 : tensor<2x7x5xf16>
}

// -----

// Two passes over the row, statistics in f32.
// CHECK-LABEL: func.func @norm
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<3xf32>)
// CHECK: arith.subf
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<3xf32>)
// CHECK: arith.mulf
// CHECK: math.sqrt
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @norm(%x: tensor<3x8xbf16>, %s: tensor<8xf32>) -> tensor<3x8xbf16> {
  %0 = top.layer_norm %x, %s {axis = 1, epsilon = 1.0e-5} : (tensor<3x8xbf16>, tensor<8xf32>) -> tensor<3x8xbf16>
  return %0 : tensor<3x8xbf16>
}

// -----

// CHECK-LABEL: func.func @expand
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<2x4x3xf32>)
func.func @expand(%x: tensor<4x1xf32>) -> tensor<2x4x3xf32> {
  %0 = top.expand %x {shape = array<i64: 2, 4, 3>} : (tensor<4x1xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// -----

// No instruction converts integers to bf16.
// CHECK-LABEL: func.func @mask
// CHECK: arith.sitofp %{{.*}} : i32 to f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @mask(%x: tensor<4xi32>) -> tensor<4xbf16> {
  %0 = top.cast %x {to = bf16} : (tensor<4xi32>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

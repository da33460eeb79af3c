// RUN: pto-opt %s --split-input-file --convert-top-to-linalg | FileCheck %s

// Inputs that reach a gather directly or reshaped are indices; the bound is the smallest table. A computed index has no bound.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %{{.*}}: tensor<9x5xf32>, %{{.*}}: tensor<2x7xi32> {top.index_bound = 9 : i64, top.name = "ids"}, %{{.*}}: tensor<2x7xi32> {top.name = "other"}
func.func @main(%t: tensor<9x5xf32>, %ids: tensor<2x7xi32> {top.name = "ids"}, %other: tensor<2x7xi32> {top.name = "other"})
    -> (tensor<14x5xf32>, tensor<2x7x5xf32>, tensor<2x7x5xf32>) {
  %flat = top.reshape %ids {shape = array<i64: 14>} : (tensor<2x7xi32>) -> tensor<14xi32>
  %0 = top.gather %t, %flat {axis = 0} : (tensor<9x5xf32>, tensor<14xi32>) -> tensor<14x5xf32>
  %w = top.weight "words" : tensor<30x5xf32>
  %1 = top.gather %w, %ids {axis = 0} : (tensor<30x5xf32>, tensor<2x7xi32>) -> tensor<2x7x5xf32>
  %sum = top.add %other, %other : (tensor<2x7xi32>, tensor<2x7xi32>) -> tensor<2x7xi32>
  %2 = top.gather %t, %sum {axis = 0} : (tensor<9x5xf32>, tensor<2x7xi32>) -> tensor<2x7x5xf32>
  return %0, %1, %2 : tensor<14x5xf32>, tensor<2x7x5xf32>, tensor<2x7x5xf32>
}

// RUN: pto-opt %s --convert-top-to-linalg | FileCheck %s --check-prefix=KEPT
// RUN: pto-opt %s --convert-top-to-linalg=templates=false | FileCheck %s

// Ops with a tile template stay for build-template-kernels; without templates they become loops.
module attributes {pto.target_arch = "a3"} {
  // KEPT-LABEL: func.func @main
  // KEPT: top.topk_values
  // KEPT: top.topk_indices
  // KEPT: top.gather_elements
  // KEPT: top.scatter
  // CHECK-LABEL: func.func @main
  // CHECK-NOT: = top.
  // Of each row, k times, the greatest element after the last one.
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: arith.cmpf olt
  // CHECK: tensor.insert
  // Updates in their order, unless they fall outside.
  // CHECK: arith.addf
  // CHECK: arith.select
  // CHECK: tensor.insert
  func.func @main(%x: tensor<3x8xf32>, %i: tensor<3x4xi32>, %p: tensor<5xi32>, %u: tensor<5x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>, tensor<3x4xf32>, tensor<3x8xf32>) {
    %v = top.topk_values %x {k = 2} : (tensor<3x8xf32>) -> tensor<3x2xf32>
    %k = top.topk_indices %x {k = 2} : (tensor<3x8xf32>) -> tensor<3x2xi32>
    %g = top.gather_elements %x, %i : (tensor<3x8xf32>, tensor<3x4xi32>) -> tensor<3x4xf32>
    %s = top.scatter %x, %p, %u {reduction = "add"} : (tensor<3x8xf32>, tensor<5xi32>, tensor<5x8xf32>) -> tensor<3x8xf32>
    return %v, %k, %g, %s : tensor<3x2xf32>, tensor<3x2xi32>, tensor<3x4xf32>, tensor<3x8xf32>
  }
}

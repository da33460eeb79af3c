// RUN: pto-opt %s --split-input-file --form-kernels | FileCheck %s
// RUN: pto-opt %s --split-input-file --form-kernels=keep-all=true | FileCheck %s --check-prefix=ALL

// The queries of an attention are a third of each row, split into heads: the product reads them in place and stores its rows in the order
// of the next transposition. No kernel only moves data.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: %[[R:.*]] = top.launch @k0_context ins(%{{.*}}, %{{.*}} : tensor<5x24xf32>, tensor<2x4x6xf32>) {{.*}}names = ["context"]} -> tensor<5x2x6xf32>
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @k0_context(%[[X:.*]]: tensor<5x24xf32>
// CHECK: tensor.extract_slice %[[X]][0, 8] [5, 8] [1, 1]
// CHECK: linalg.transpose
// CHECK: linalg.batch_matmul
// CHECK: linalg.transpose
// A debug build also stores the named intermediate tensor.
// ALL: names = ["heads"]
// ALL: names = ["context"]
func.func @main(%x: tensor<5x24xf32>, %k: tensor<2x4x6xf32>) -> tensor<5x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.extract_slice %x[0, 8] [5, 8] [1, 1] : tensor<5x24xf32> to tensor<5x8xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [5, 2, 4] : tensor<5x8xf32> into tensor<5x2x4xf32>
  %e = tensor.empty() : tensor<2x5x4xf32>
  %2 = linalg.transpose ins(%1 : tensor<5x2x4xf32>) outs(%e : tensor<2x5x4xf32>) permutation = [1, 0, 2] loc("heads")
  %f = tensor.empty() : tensor<2x5x6xf32>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %3 = linalg.batch_matmul ins(%2, %k : tensor<2x5x4xf32>, tensor<2x4x6xf32>) outs(%i : tensor<2x5x6xf32>) -> tensor<2x5x6xf32> loc("mixed")
  %g = tensor.empty() : tensor<5x2x6xf32>
  %4 = linalg.transpose ins(%3 : tensor<2x5x6xf32>) outs(%g : tensor<5x2x6xf32>) permutation = [1, 0, 2] loc("context")
  return %4 : tensor<5x2x6xf32>
}

// -----

// A transposition that splits rows stays a kernel: the cube loads whole rows.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0_columns
// CHECK: top.launch @k1_product
func.func @main(%x: tensor<2x4x5xf32>, %k: tensor<2x4x6xf32>) -> tensor<2x5x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x4xf32>
  %0 = linalg.transpose ins(%x : tensor<2x4x5xf32>) outs(%e : tensor<2x5x4xf32>) permutation = [0, 2, 1] loc("columns")
  %f = tensor.empty() : tensor<2x5x6xf32>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %1 = linalg.batch_matmul ins(%0, %k : tensor<2x5x4xf32>, tensor<2x4x6xf32>) outs(%i : tensor<2x5x6xf32>) -> tensor<2x5x6xf32> loc("product")
  return %1 : tensor<2x5x6xf32>
}

// -----

// A value with other users is moved, and the product reads the moved one.
// CHECK-LABEL: func.func @main
// CHECK: %[[H:.*]] = top.launch @k0_heads ins
// CHECK: top.launch @k1_product ins(%[[H]], %{{.*}} : tensor<2x5x4xf32>, tensor<2x4x6xf32>) {{.*}}{absorbed = [],
func.func @main(%x: tensor<5x2x4xf32>, %k: tensor<2x4x6xf32>) -> (tensor<2x5x6xf32>, tensor<2x5x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x4xf32>
  %0 = linalg.transpose ins(%x : tensor<5x2x4xf32>) outs(%e : tensor<2x5x4xf32>) permutation = [1, 0, 2] loc("heads")
  %f = tensor.empty() : tensor<2x5x6xf32>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %1 = linalg.batch_matmul ins(%0, %k : tensor<2x5x4xf32>, tensor<2x4x6xf32>) outs(%i : tensor<2x5x6xf32>) -> tensor<2x5x6xf32> loc("product")
  return %1, %0 : tensor<2x5x6xf32>, tensor<2x5x4xf32>
}

// -----

// A row of a tensor is read in place, under the name of the reshape that ends it: the kernel absorbs the name. A reshape alone is no such
// tensor; its elements are those of the argument.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0_product ins(%{{.*}}, %{{.*}} : tensor<1x6x8xf32>, tensor<8x4xf32>) {{.*}}{absorbed = ["row"], layouts = [""], names = ["product"]}
// ALL: absorbed = ["row"]
func.func @main(%x: tensor<1x6x8xf32>, %w: tensor<8x4xf32>) -> tensor<1x4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.extract_slice %x[0, 0, 0] [1, 1, 8] [1, 1, 1] : tensor<1x6x8xf32> to tensor<1x1x8xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<1x1x8xf32> into tensor<1x8xf32> loc("row")
  %f = tensor.empty() : tensor<1x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<1x8xf32>, tensor<8x4xf32>) outs(%i : tensor<1x4xf32>) -> tensor<1x4xf32> loc("product")
  return %2 : tensor<1x4xf32>
}

// -----

// Two transpositions are rows of the matrix, the second one alone is not: where the first is kept, both are moved.
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = top.launch @k0_across ins(%arg0
// CHECK: %[[B:.*]] = top.launch @k1_back ins(%[[T]]
// CHECK: top.launch @k2_product ins(%[[B]], %{{.*}} : tensor<8x6xf32>, tensor<6x17xf32>)
func.func @main(%x: tensor<8x6xf32>, %k: tensor<6x17xf32>) -> (tensor<8x17xf32>, tensor<6x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x8xf32>
  %0 = linalg.transpose ins(%x : tensor<8x6xf32>) outs(%e : tensor<6x8xf32>) permutation = [1, 0] loc("across")
  %g = tensor.empty() : tensor<8x6xf32>
  %1 = linalg.transpose ins(%0 : tensor<6x8xf32>) outs(%g : tensor<8x6xf32>) permutation = [1, 0] loc("back")
  %f = tensor.empty() : tensor<8x17xf32>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<8x17xf32>) -> tensor<8x17xf32>
  %2 = linalg.matmul ins(%1, %k : tensor<8x6xf32>, tensor<6x17xf32>) outs(%i : tensor<8x17xf32>) -> tensor<8x17xf32> loc("product")
  return %2, %0 : tensor<8x17xf32>, tensor<6x8xf32>
}

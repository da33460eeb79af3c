// RUN: pto-opt %s --convert-top-to-linalg=templates=false --split-input-file --verify-diagnostics | FileCheck %s

// One loop over the steps for each direction; the second one goes backwards.
// CHECK-LABEL: @rnn
// CHECK: scf.for
// CHECK: linalg.matmul_transpose_b
// CHECK: math.tanh
// CHECK: tensor.insert_slice
// CHECK: scf.for
// CHECK: arith.subi
// CHECK: linalg.matmul_transpose_b
func.func @rnn(%x: tensor<5x3x16xf32>, %w: tensor<2x8x8xf32>, %h: tensor<2x3x8xf32>) -> tensor<6x2x3x8xf32> {
  %0 = top.recurrent %x, %w, %h {kind = "RNN", direction = "bidirectional", activations = ["Tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>}
      : (tensor<5x3x16xf32>, tensor<2x8x8xf32>, tensor<2x3x8xf32>) -> tensor<6x2x3x8xf32>
  return %0 : tensor<6x2x3x8xf32>
}

// -----

func.func @unknown(%x: tensor<5x3x8xf32>, %w: tensor<1x8x8xf32>, %h: tensor<1x3x8xf32>) -> tensor<6x1x3x8xf32> {
  // expected-error@+1 {{has an activation 'Gelu' that no kernel computes}}
  %0 = top.recurrent %x, %w, %h {kind = "RNN", direction = "forward", activations = ["Gelu"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>}
      : (tensor<5x3x8xf32>, tensor<1x8x8xf32>, tensor<1x3x8xf32>) -> tensor<6x1x3x8xf32>
  return %0 : tensor<6x1x3x8xf32>
}

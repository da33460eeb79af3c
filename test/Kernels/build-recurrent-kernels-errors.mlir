// RUN: pto-opt %s --build-recurrent-kernels --split-input-file --verify-diagnostics
// RUN: pto-opt %s --split-recurrences --split-input-file -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=SPLIT
// SPLIT-NOT: error

module attributes {pto.target_arch = "a3"} {
  // expected-error @+1 {{expects 'pto.recurrence' as split-recurrences writes it}}
  func.func private @bare(%x: tensor<5x3x8xf32>, %w: tensor<1x8x8xf32>, %h: tensor<1x3x8xf32>, %o: tensor<6x1x3x8xf32>) -> tensor<6x1x3x8xf32> attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %0 = top.recurrent %x, %w, %h {kind = "RNN", direction = "forward", activations = ["Tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>}
        : (tensor<5x3x8xf32>, tensor<1x8x8xf32>, tensor<1x3x8xf32>) -> tensor<6x1x3x8xf32>
    return %0 : tensor<6x1x3x8xf32>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func private @panel(%a: tensor<3x8xf32>, %b: tensor<3x8xf32>) -> tensor<3x8xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>, pto.panel} {
    return %a : tensor<3x8xf32>
  }
  // expected-error @+1 {{needs @panel in tile instructions; run convert-linalg-to-pto first}}
  func.func private @early(%x: tensor<5x3x8xf32>, %w: tensor<1x8x8xf32>, %h: tensor<1x3x8xf32>, %o: tensor<6x1x3x8xf32>) -> tensor<6x1x3x8xf32> attributes {pto.kernel_kind = #pto.kernel_kind<cube>, pto.recurrence = {panels = [@panel, @panel], rows = array<i64: 3>}} {
    %0 = top.recurrent %x, %w, %h {kind = "RNN", direction = "forward", activations = ["Tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>}
        : (tensor<5x3x8xf32>, tensor<1x8x8xf32>, tensor<1x3x8xf32>) -> tensor<6x1x3x8xf32>
    return %0 : tensor<6x1x3x8xf32>
  }
}

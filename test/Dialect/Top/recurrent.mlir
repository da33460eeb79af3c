// RUN: pto-opt %s --split-input-file --verify-diagnostics | pto-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @gru
// CHECK: top.recurrent %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} live %{{.*}} {
func.func @gru(%x: tensor<5x3x24xf32>, %w: tensor<1x24x8xf32>, %h: tensor<1x3x8xf32>, %b: tensor<1x8xf32>, %l: tensor<5x3xf32>) -> tensor<6x1x3x8xf32> {
  %0 = top.recurrent %x, %w, %h bias %b live %l {kind = "GRU", direction = "reverse", activations = ["Sigmoid", "Tanh"],
      alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>, reset_last = true}
      : (tensor<5x3x24xf32>, tensor<1x24x8xf32>, tensor<1x3x8xf32>, tensor<1x8xf32>, tensor<5x3xf32>) -> tensor<6x1x3x8xf32>
  return %0 : tensor<6x1x3x8xf32>
}

// -----

func.func @kind(%x: tensor<5x3x8xf32>, %w: tensor<1x8x8xf32>, %h: tensor<1x3x8xf32>) {
  // expected-error@+2 {{expects a kind of LSTM, GRU or RNN, got 'CNN'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = top.recurrent %x, %w, %h {kind = "CNN", direction = "forward", activations = ["Tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>}
      : (tensor<5x3x8xf32>, tensor<1x8x8xf32>, tensor<1x3x8xf32>) -> tensor<6x1x3x8xf32>
  return
}

// -----

func.func @direction(%x: tensor<5x3x8xf32>, %w: tensor<1x8x8xf32>, %h: tensor<1x3x8xf32>) {
  // expected-error@+2 {{expects a direction of forward, reverse or bidirectional, got 'up'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = top.recurrent %x, %w, %h {kind = "RNN", direction = "up", activations = ["Tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>}
      : (tensor<5x3x8xf32>, tensor<1x8x8xf32>, tensor<1x3x8xf32>) -> tensor<6x1x3x8xf32>
  return
}

// -----

func.func @activations(%x: tensor<5x3x8xf32>, %w: tensor<1x8x8xf32>, %h: tensor<1x3x8xf32>) {
  // expected-error@+2 {{expects 1 activations, each with an alpha and a beta}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = top.recurrent %x, %w, %h {kind = "RNN", direction = "forward", activations = ["Tanh", "Tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>}
      : (tensor<5x3x8xf32>, tensor<1x8x8xf32>, tensor<1x3x8xf32>) -> tensor<6x1x3x8xf32>
  return
}

// -----

func.func @weights(%x: tensor<5x3x8xf32>, %w: tensor<1x9x8xf32>, %h: tensor<1x3x8xf32>) {
  // expected-error@+2 {{expects weights of [1, 1 * hidden, hidden], got 1x9x8}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = top.recurrent %x, %w, %h {kind = "RNN", direction = "forward", activations = ["Tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>}
      : (tensor<5x3x8xf32>, tensor<1x9x8xf32>, tensor<1x3x8xf32>) -> tensor<6x1x3x8xf32>
  return
}

// -----

func.func @cell(%x: tensor<5x3x32xf32>, %w: tensor<1x32x8xf32>, %h: tensor<1x3x8xf32>) {
  // expected-error@+2 {{expects an initial_c of an LSTM only}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = top.recurrent %x, %w, %h {kind = "LSTM", direction = "forward", activations = ["Sigmoid", "Tanh", "Tanh"],
      alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>}
      : (tensor<5x3x32xf32>, tensor<1x32x8xf32>, tensor<1x3x8xf32>) -> tensor<7x1x3x8xf32>
  return
}

// -----

func.func @state(%x: tensor<5x3x8xf32>, %w: tensor<1x8x8xf32>, %h: tensor<1x2x8xf32>) {
  // expected-error@+2 {{expects an initial_h of 1x3x8, got 1x2x8}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = top.recurrent %x, %w, %h {kind = "RNN", direction = "forward", activations = ["Tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>}
      : (tensor<5x3x8xf32>, tensor<1x8x8xf32>, tensor<1x2x8xf32>) -> tensor<6x1x3x8xf32>
  return
}

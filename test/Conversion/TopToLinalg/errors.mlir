// RUN: pto-opt %s --split-input-file --convert-top-to-linalg --verify-diagnostics

func.func @nchw(%x: tensor<1x3x4x4xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x4x4xf32> {
  // expected-error @+2 {{'top.conv' op has layout NCHW; run top-layout before convert-top-to-linalg}}
  // expected-error @+1 {{failed to legalize operation 'top.conv'}}
  %0 = top.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// -----

func.func @backward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{'top.slice' op has the step -1; only positive steps have a lowering}}
  // expected-error @+1 {{failed to legalize operation 'top.slice'}}
  %0 = top.slice %x {starts = array<i64: 3>, ends = array<i64: -1>, steps = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

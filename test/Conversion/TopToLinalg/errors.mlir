// RUN: pto-opt %s --split-input-file --convert-top-to-linalg --verify-diagnostics

func.func @nchw(%x: tensor<1x3x4x4xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x4x4xf32> {
  // expected-error @+1 {{'top.conv' op has layout NCHW; run top-layout before convert-top-to-linalg}}
  %0 = top.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// -----

func.func @backward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'top.slice' op has the step -1; only positive steps have a lowering}}
  %0 = top.slice %x {starts = array<i64: 3>, ends = array<i64: -1>, steps = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// All errors of a module are reported, not only the first one.
func.func @several(%a: tensor<4xi16>, %b: tensor<4xi16>) -> tensor<4xi16> {
  // expected-error @+1 {{'top.div' op on integers of 'i16' has no lowering; cast the operands to int32}}
  %0 = top.div %a, %b : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  // expected-error @+1 {{'top.pow' op on integers has no lowering; cast the operands to float}}
  %1 = top.pow %0, %b : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  return %1 : tensor<4xi16>
}

// -----

func.func @types(%a: tensor<4xui8>, %b: tensor<4xf64>) -> (tensor<4xui8>, tensor<4xf64>) {
  // expected-error @+1 {{'top.add' op has elements of type 'ui8', with which no engine computes; f32, f16, bf16, i32 and i16 work}}
  %0 = top.add %a, %a : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  // expected-error @+1 {{'top.exp' op has elements of type 'f64', with which no engine computes}}
  %1 = top.exp %b : (tensor<4xf64>) -> tensor<4xf64>
  return %0, %1 : tensor<4xui8>, tensor<4xf64>
}

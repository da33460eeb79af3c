// RUN: pto-opt %s --split-input-file --verify-diagnostics

!a = !quant.uniform<i8:f32, 5.000000e-01:3>
func.func @none(%x: tensor<4x!a>) {
  // expected-error @below {{operand #0 must be}}
  %0 = top.add %x, %x : (tensor<4x!a>, tensor<4x!a>) -> tensor<4x!a>
  return
}

// -----

!c = !quant.uniform<i8:f32:0, {1.0,2.0}>
func.func @cut(%x: tensor<2x6x!c>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @below {{merges or splits the dimension that has a scale per index}}
  %0 = top.reshape %x {shape = array<i64: 12>} : (tensor<2x6x!c>) -> tensor<12x!c>
  return
}

// -----

!c = !quant.uniform<i8:f32:0, {1.0,2.0}>
func.func @pad(%x: tensor<2x6x!c>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @below {{changes the dimension that has a scale per index}}
  %0 = top.pad %x {pads = array<i64: 0, 0, 1, 0>} : (tensor<2x6x!c>) -> tensor<3x6x!c>
  return
}

// -----

!a = !quant.uniform<i8:f32, 5.000000e-01>
func.func @mixed(%x: tensor<2x6x!a>, %w: tensor<6x3xi8>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @below {{expects both operands or none of a quantised type}}
  %0 = top.matmul %x, %w {to = !a} : (tensor<2x6x!a>, tensor<6x3xi8>) -> tensor<2x3x!a>
  return
}

// -----

!a = !quant.uniform<i8:f32, 5.000000e-01>
!c = !quant.uniform<i8:f32:0, {1.0,2.0,1.0,2.0,1.0,2.0}>
func.func @rows(%x: tensor<2x6x!a>, %w: tensor<6x3x!c>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @below {{expects the scales of the right operand along dimension 1, which makes the result's columns, got them along 0}}
  %0 = top.matmul %x, %w {to = !a} : (tensor<2x6x!a>, tensor<6x3x!c>) -> tensor<2x3x!a>
  return
}

// -----

!a = !quant.uniform<i8:f32, 5.000000e-01:3>
func.func @zero(%x: tensor<2x6x!a>, %w: tensor<6x3x!a>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @below {{expects a right operand without zero points}}
  %0 = top.matmul %x, %w {to = !a} : (tensor<2x6x!a>, tensor<6x3x!a>) -> tensor<2x3x!a>
  return
}

// -----

!a = !quant.uniform<i8:f32, 5.000000e-01>
func.func @result(%x: tensor<2x6x!a>, %w: tensor<6x3x!a>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @below {{expects 'to' to be a quantised type of 8 bits with one scale, the type of the result}}
  %0 = top.matmul %x, %w : (tensor<2x6x!a>, tensor<6x3x!a>) -> tensor<2x3x!a>
  return
}

// -----

!a = !quant.uniform<i8:f32, 5.000000e-01>
func.func @bias(%x: tensor<2x6x!a>, %w: tensor<6x3x!a>, %b: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @below {{expects a bias of i32, in units of the operands' scales}}
  %0 = top.matmul %x, %w, %b {to = !a} : (tensor<2x6x!a>, tensor<6x3x!a>, tensor<3xf32>) -> tensor<2x3x!a>
  return
}

// -----

!c = !quant.uniform<i8:f32:0, {1.0,2.0}>
func.func @quantize(%x: tensor<3x6xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @below {{expects a scale for each index of one dimension}}
  %0 = top.quantize %x {to = !c} : (tensor<3x6xf32>) -> tensor<3x6x!c>
  return
}

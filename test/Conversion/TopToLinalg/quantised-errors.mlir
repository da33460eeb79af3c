// RUN: pto-opt %s --convert-top-to-linalg --split-input-file --verify-diagnostics

!x = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 5.000000e-01>
func.func @computed(%x: tensor<4x8x!x>, %w: tensor<8x3x!w>) -> tensor<4x3x!x> {
  // expected-error @below {{has a left operand with zero point 3 and a computed right one, whose columns are not summed; zero point 0 would do}}
  %0 = top.matmul %x, %w {to = !x} : (tensor<4x8x!x>, tensor<8x3x!w>) -> tensor<4x3x!x>
  return %0 : tensor<4x3x!x>
}

// -----

!w = !quant.uniform<i8:f32, 5.000000e-01>
func.func @depthwise(%x: tensor<1x4x4x8x!w>, %w: tensor<3x3x1x8x!w>) -> tensor<1x2x2x8x!w> {
  // expected-error @below {{is a depthwise convolution of quantised types, which the vector engine has no product for; top.dequantize before it would do}}
  %0 = top.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 8 : i64, layout = "NHWC", to = !w}
      : (tensor<1x4x4x8x!w>, tensor<3x3x1x8x!w>) -> tensor<1x2x2x8x!w>
  return %0 : tensor<1x2x2x8x!w>
}

// -----

!w = !quant.uniform<i8:f32, 5.000000e-01>
func.func @long(%x: tensor<1x131072x!w>, %w: tensor<131072x2x!w>) -> tensor<1x2x!w> {
  // expected-error @below {{sums 131072 products of 8 bits, which may leave 32; less than 131072 would do}}
  %0 = top.matmul %x, %w {to = !w} : (tensor<1x131072x!w>, tensor<131072x2x!w>) -> tensor<1x2x!w>
  return %0 : tensor<1x2x!w>
}

// -----

!u = !quant.uniform<u8:f32, 5.000000e-01:128>
// expected-error @below {{stored unsigned, with which no engine computes; the same numbers less 128 are signed}}
func.func @unsigned(%x: tensor<4x!u>) -> tensor<4x!u> {
  return %x : tensor<4x!u>
}

// -----

!a = !quant.uniform<i8:f32, 5.000000e-01>
func.func @value(%x: tensor<4x!a>) -> tensor<5x!a> {
  // expected-error @below {{pads a quantised tensor; its zero point alone, as value 0, of one scale would do}}
  %0 = top.pad %x {pads = array<i64: 0, 1>, value = 1.0 : f64} : (tensor<4x!a>) -> tensor<5x!a>
  return %0 : tensor<5x!a>
}

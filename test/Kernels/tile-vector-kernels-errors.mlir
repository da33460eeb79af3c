// RUN: pto-opt %s --split-input-file --tile-vector-kernels --verify-diagnostics

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A softmax needs a whole row at a time.
func.func private @long_row(%x: tensor<4x60000xf32>, %out: tensor<4x60000xf32>) -> tensor<4x60000xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x60000xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %b, %a : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  // expected-error @below {{reduces over a row of 60000 elements, which does not fit the unified buffer}}
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<4x60000xf32>, tensor<4xf32>) outs(%out : tensor<4x60000xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4x60000xf32>
  return %0 : tensor<4x60000xf32>
}

// -----

// A window's input is padded along rows and columns only.
func.func private @pad_by_more_channels(%x: tensor<1x4x4x6xf32>, %w: tensor<3x3x8xf32>, %out: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 2] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x4x4x6xf32> to tensor<1x6x6x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  // expected-error @below {{needs a padding by a constant, at least zero, of rows and columns only}}
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%padded, %w : tensor<1x6x6x8xf32>, tensor<3x3x8xf32>) outs(%init : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %0 : tensor<1x4x4x8xf32>
}

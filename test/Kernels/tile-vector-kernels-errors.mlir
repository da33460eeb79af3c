// RUN: pto-opt %s --split-input-file --tile-vector-kernels --verify-diagnostics

// One pixel of a tile needs its whole window.
func.func private @large_window(%x: tensor<1x100x100x8xf32>, %out: tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0.0 : f32
  %w = tensor.empty() : tensor<100x100xf32>
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32>
  // expected-error @below {{reads more input for one output pixel than the unified buffer holds}}
  %0 = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x100x100x8xf32>, tensor<100x100xf32>) outs(%init : tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32>
  return %0 : tensor<1x1x1x8xf32>
}

// -----

// Blocks of 8 channels fit no tile; 4 of 60 do.
func.func private @parts_of_blocks(%x: tensor<1x1x1500x60xf32>, %out: tensor<1x1x1x60xf32>) -> tensor<1x1x1x60xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0.0 : f32
  %w = tensor.empty() : tensor<1x1500xf32>
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<1x1x1x60xf32>) -> tensor<1x1x1x60xf32>
  // expected-remark @below {{is computed 15 of its 60 channels at a time: the window of more does not fit the unified buffer}}
  %0 = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x1x1500x60xf32>, tensor<1x1500xf32>) outs(%init : tensor<1x1x1x60xf32>) -> tensor<1x1x1x60xf32>
  return %0 : tensor<1x1x1x60xf32>
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

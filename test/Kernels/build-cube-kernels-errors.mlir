// RUN: pto-opt %s --build-cube-kernels --split-input-file --verify-diagnostics

func.func private @types(%a: tensor<4x8xf64>, %b: tensor<8x4xf64>, %out: tensor<4x4xf64>) -> tensor<4x4xf64>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0.0 : f64
  %f = linalg.fill ins(%z : f64) outs(%out : tensor<4x4xf64>) -> tensor<4x4xf64>
  // expected-error @below {{has operand types that the cube lacks: 'f64' x 'f64' -> 'f64' -> 'f64'}}
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf64>, tensor<8x4xf64>) outs(%f : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}

// -----

func.func private @init(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %out: tensor<4x4xf32>) -> tensor<4x4xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 1.0 : f32
  // expected-error @below {{of a cube kernel's init must be 0}}
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
func.func private @epilogue(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %out: tensor<4x4xf32>) -> tensor<4x4xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    // expected-error @below {{cannot run in a cube kernel's epilogue}}
    %n = arith.negf %x : f32
    linalg.yield %n : f32
  } -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

func.func private @filter(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x4xf32>, %out: tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%f : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %0 : tensor<1x6x6x4xf32>
}
func.func @main(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32> {
  %e = tensor.empty() : tensor<1x6x6x4xf32>
  // expected-error @below {{has a filter that is computed at run time; a convolution's filter must be a constant}}
  %0 = top.launch @filter ins(%x, %w : tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%e : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %0 : tensor<1x6x6x4xf32>
}

// -----

func.func private @wide(%x: tensor<1x1x400x3xf32>, %w: tensor<1x2x3x4xf32>, %out: tensor<1x1x100x4xf32>) -> tensor<1x1x100x4xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<1x1x100x4xf32>) -> tensor<1x1x100x4xf32>
  // expected-error @below {{has a kernel, stride, dilation or padding beyond 255, which img2col cannot express}}
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<[1, 300]> : tensor<2xi64>}
      ins(%x, %w : tensor<1x1x400x3xf32>, tensor<1x2x3x4xf32>) outs(%f : tensor<1x1x100x4xf32>) -> tensor<1x1x100x4xf32>
  return %0 : tensor<1x1x100x4xf32>
}

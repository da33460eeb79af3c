// RUN: pto-opt %s --build-cube-kernels | FileCheck %s
// RUN: pto-opt %s --build-cube-kernels=num-cores=1 | FileCheck %s --check-prefix=ONE

#id = affine_map<(i, j) -> (i, j)>

// A product with bias, relu and a cast: one share of the rows per trip, K in steps, bias in the first step.
// CHECK-LABEL: func.func private @matmul(
// CHECK-SAME: %[[A:.*]]: !pto.ptr<f16>, %[[B:.*]]: !pto.ptr<f16>, %[[BIAS:.*]]: !pto.ptr<f32>, %[[OUT:.*]]: !pto.ptr<f16>)
// CHECK-SAME: kernel_kind<cube>
// CHECK: pto.get_block_idx
// CHECK: pto.get_block_num
// CHECK: scf.for
// CHECK: pto.tload {{.*}}outs(%[[STAGED:.*]] : !pto.tile_buf<mat, 1x16xf32, valid=1x?>)
// CHECK: pto.tmov ins(%[[STAGED]] {{.*}}outs(%[[BT:.*]] : !pto.tile_buf<bias, 1x16xf32, valid=1x?>)
// CHECK: %[[ACC:.*]] = pto.alloc_tile {{.*}}: !pto.tile_buf<acc,
// CHECK: scf.for
// CHECK: pto.textract {{.*}}!pto.tile_buf<left,
// CHECK: pto.textract {{.*}}!pto.tile_buf<right,
// CHECK: scf.if
// CHECK: pto.tmatmul.bias {{.*}}outs(%[[ACC]]
// CHECK: else
// CHECK: pto.tmatmul.acc ins(%[[ACC]]
// CHECK: pto.tstore ins(%[[ACC]] {{.*}}xf16>) {reluPreMode = #pto<relu_pre_mode normal_relu>}
// CHECK: return
// ONE-LABEL: @matmul
// ONE-NOT: get_block
func.func private @matmul(%a: tensor<197x1000xf16>, %b: tensor<1000x17xf16>, %bias: tensor<17xf32>, %out: tensor<197x17xf16>) -> tensor<197x17xf16>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<197x17xf32>
  %i = linalg.broadcast ins(%bias : tensor<17xf32>) outs(%e : tensor<197x17xf32>) dimensions = [0]
  %0 = linalg.matmul ins(%a, %b : tensor<197x1000xf16>, tensor<1000x17xf16>) outs(%i : tensor<197x17xf32>) -> tensor<197x17xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<197x17xf32>) outs(%out : tensor<197x17xf16>) {
  ^bb0(%x: f32, %o: f16):
    %r = arith.maximumf %x, %z : f32
    %t = arith.truncf %r : f32 to f16
    linalg.yield %t : f16
  } -> tensor<197x17xf16>
  return %1 : tensor<197x17xf16>
}

// A transposed right operand is loaded as DN into a ZN tile; one row keeps 16 allocated rows.
// CHECK-LABEL: func.func private @transposed(
// CHECK: pto.make_tensor_view {{.*}}{layout = #pto.layout<dn>} : !pto.tensor_view<8x2xf32>
// CHECK: pto.tload {{.*}}!pto.tile_buf<mat, 16x16xf32, valid=8x2, slayout=col_major>
// CHECK: !pto.tile_buf<left, 16x8xf32, valid=1x8, slayout=row_major>
// CHECK: pto.tmatmul ins
func.func private @transposed(%a: tensor<1x8xf32>, %b: tensor<2x8xf32>, %out: tensor<1x2xf32>) -> tensor<1x2xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<1x2xf32>) -> tensor<1x2xf32>
  %0 = linalg.matmul_transpose_b ins(%a, %b : tensor<1x8xf32>, tensor<2x8xf32>) outs(%f : tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// A padded convolution reads slabs of equal size by img2col; its filter is packed: 9 taps of 8 channels, of which 3 are used.
// CHECK-LABEL: func.func private @conv(
// CHECK: pto.make_tensor_view {{.*}} : !pto.tensor_view<72x8xf32>
// CHECK: pto.timg2col {{.*}}channels = 3 : i64, dilations = [1, 1], image = [{{[0-9]+}}, 192], kernel = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]
// CHECK: pto.tmatmul ins
func.func private @conv(%x: tensor<1x48x192x3xf32>, %w: tensor<3x3x3x8xf32>, %out: tensor<1x24x96x8xf32>) -> tensor<1x24x96x8xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %z : f32
  } : tensor<1x48x192x3xf32> to tensor<1x50x194x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<1x24x96x8xf32>) -> tensor<1x24x96x8xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<1x50x194x3xf32>, tensor<3x3x3x8xf32>) outs(%f : tensor<1x24x96x8xf32>) -> tensor<1x24x96x8xf32>
  return %0 : tensor<1x24x96x8xf32>
}

// Non-overlapping windows: strided loads of a row of every window, no packing, no img2col.
// CHECK-LABEL: func.func private @patches(
// CHECK-DAG: pto.make_tensor_view {{.*}} : !pto.tensor_view<4x8x6x24xf32>
// CHECK-DAG: pto.make_tensor_view {{.*}} : !pto.tensor_view<192x16xf32>
// CHECK-NOT: pto.timg2col
// CHECK: pto.tload {{.*}}!pto.partition_tensor_view<{{[0-9?]+}}x1x6x24xf32>
// CHECK: pto.tstore
func.func private @patches(%x: tensor<1x32x48x3xf32>, %w: tensor<8x8x3x16xf32>, %out: tensor<1x4x6x16xf32>) -> tensor<1x4x6x16xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<1x4x6x16xf32>) -> tensor<1x4x6x16xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<8> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x32x48x3xf32>, tensor<8x8x3x16xf32>) outs(%f : tensor<1x4x6x16xf32>) -> tensor<1x4x6x16xf32>
  return %0 : tensor<1x4x6x16xf32>
}

// The launch reads the packed filter.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[W0:.*]] = top.weight "conv.filter.img2col" : tensor<72x8xf32>
// CHECK: top.launch @conv ins(%{{.*}}, %[[W0]] :
func.func @main(%x: tensor<1x48x192x3xf32>) -> tensor<1x24x96x8xf32> {
  %w = arith.constant dense<1.0> : tensor<3x3x3x8xf32>
  %e = tensor.empty() : tensor<1x24x96x8xf32>
  %0 = top.launch @conv ins(%x, %w : tensor<1x48x192x3xf32>, tensor<3x3x3x8xf32>) outs(%e : tensor<1x24x96x8xf32>) -> tensor<1x24x96x8xf32>
  return %0 : tensor<1x24x96x8xf32>
}

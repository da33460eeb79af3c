// RUN: pto-opt %s --split-input-file --form-kernels | FileCheck %s
// RUN: pto-opt %s --split-input-file --form-kernels=keep-all=true | FileCheck %s --check-prefix=ALL
// RUN: pto-opt %s --split-input-file --form-kernels --tile-vector-kernels --bufferize-vector-kernels --convert-linalg-to-pto | FileCheck %s --check-prefix=PTO

// What only a transposition reads is computed in its kernel; a tile is rounded before it is transposed.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0_nhwc ins(%{{.*}} : tensor<1x3x8x16xf32>) outs(%{{.*}} : tensor<1x8x16x3xf16>)
// CHECK-NOT: top.launch
// ALL-LABEL: func.func @main
// ALL: top.launch @k0_half
// ALL: top.launch @k1_nhwc
// PTO-LABEL: func.func private @k0_nhwc
// PTO: pto.tcvt {{.*}}xf32{{.*}} outs(%[[H:.*]] : !pto.tile_buf<vec, 3x{{[0-9]+}}xf16
// PTO: pto.ttrans ins(%[[H]], {{.*}}xf16{{.*}} outs(%[[T:.*]] : !pto.tile_buf<vec, {{[0-9]+}}x16xf16
// PTO-NOT: pto.tcvt
// PTO: pto.tstore ins(%[[T]]
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @main(%x: tensor<1x3x8x16xf32>) -> tensor<1x8x16x3xf16> {
  %e = tensor.empty() : tensor<1x3x8x16xf16>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x3x8x16xf32>) outs(%e : tensor<1x3x8x16xf16>) {
  ^bb0(%in: f32, %out: f16):
    %a = arith.truncf %in to_nearest_even : f32 to f16
    linalg.yield %a : f16
  } -> tensor<1x3x8x16xf16> loc("half")
  %t = tensor.empty() : tensor<1x8x16x3xf16>
  %1 = linalg.transpose ins(%0 : tensor<1x3x8x16xf16>) outs(%t : tensor<1x8x16x3xf16>) permutation = [0, 2, 3, 1] loc("nhwc")
  return %1 : tensor<1x8x16x3xf16>
}

// -----

// Two operands would both be transposed: a kernel of its own.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0_sum
// CHECK: top.launch @k1_nhwc
// ALL-LABEL: func.func @main
// PTO-LABEL: func.func private @k1_nhwc
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @main(%x: tensor<1x3x8x16xf32>, %y: tensor<1x3x8x16xf32>) -> tensor<1x8x16x3xf32> {
  %e = tensor.empty() : tensor<1x3x8x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32>) outs(%e : tensor<1x3x8x16xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %a = arith.addf %in, %other : f32
    linalg.yield %a : f32
  } -> tensor<1x3x8x16xf32> loc("sum")
  %t = tensor.empty() : tensor<1x8x16x3xf32>
  %1 = linalg.transpose ins(%0 : tensor<1x3x8x16xf32>) outs(%t : tensor<1x8x16x3xf32>) permutation = [0, 2, 3, 1] loc("nhwc")
  return %1 : tensor<1x8x16x3xf32>
}

// -----

// A border between them is a kernel of its own.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0_half
// CHECK: top.launch @k1_border
// CHECK: top.launch @k2_nhwc
// ALL-LABEL: func.func @main
// PTO-LABEL: func.func private @k2_nhwc
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @main(%x: tensor<1x3x8x15xf32>) -> tensor<1x8x16x3xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x3x8x15xf16>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x3x8x15xf32>) outs(%e : tensor<1x3x8x15xf16>) {
  ^bb0(%in: f32, %out: f16):
    %a = arith.truncf %in to_nearest_even : f32 to f16
    linalg.yield %a : f16
  } -> tensor<1x3x8x15xf16> loc("half")
  %p = tensor.pad %0 low[0, 0, 0, 0] high[0, 0, 0, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f16
  } : tensor<1x3x8x15xf16> to tensor<1x3x8x16xf16> loc("border")
  %t = tensor.empty() : tensor<1x8x16x3xf16>
  %1 = linalg.transpose ins(%p : tensor<1x3x8x16xf16>) outs(%t : tensor<1x8x16x3xf16>) permutation = [0, 2, 3, 1] loc("nhwc")
  return %1 : tensor<1x8x16x3xf16>
}

// RUN: pto-opt %s --split-input-file --form-kernels | FileCheck %s
// RUN: pto-opt %s --split-input-file --form-kernels=keep-all=true | FileCheck %s --check-prefix=ALL

// An elementwise op whose result is read only by a window op, border included, is fused into the window's kernel; a debug build, which keeps
// its value, leaves it in a separate kernel.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0_dw ins(%{{.*}}, %{{.*}} : tensor<1x4x6x8xf32>, tensor<3x3x8xf32>) {{.*}} {absorbed = ["clip"], layouts = [""], names = ["dw"]}
// CHECK-NOT: top.launch
// CHECK: func.func private @k0_dw(
// CHECK: %[[CLIP:.*]] = linalg.generic
// CHECK: tensor.pad %[[CLIP]]
// CHECK: linalg.depthwise_conv_2d_nhwc_hwc
// ALL-LABEL: func.func @main
// ALL: top.launch @k0_clip
// ALL: top.launch @k1_dw
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @main(%x: tensor<1x4x6x8xf32>, %w: tensor<3x3x8xf32>) -> tensor<1x4x6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %e = tensor.empty() : tensor<1x4x6x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x4x6x8xf32>) outs(%e : tensor<1x4x6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.maximumf %in, %zero : f32
    %b = arith.minimumf %a, %six : f32
    linalg.yield %b : f32
  } -> tensor<1x4x6x8xf32> loc("clip")
  %p = tensor.pad %0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x4x6x8xf32> to tensor<1x6x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  %1 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<1x6x8x8xf32>, tensor<3x3x8xf32>) outs(%f : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32> loc("dw")
  return %1 : tensor<1x4x6x8xf32>
}

// -----

// Has other users: a separate kernel.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0_clip
// CHECK: top.launch @k1_dw
// ALL-LABEL: func.func @main
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @main(%x: tensor<1x4x6x8xf32>, %w: tensor<1x1x8xf32>) -> (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x6x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x4x6x8xf32>) outs(%e : tensor<1x4x6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.exp %in : f32
    linalg.yield %a : f32
  } -> tensor<1x4x6x8xf32> loc("clip")
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  %1 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%0, %w : tensor<1x4x6x8xf32>, tensor<1x1x8xf32>) outs(%f : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32> loc("dw")
  return %0, %1 : tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>
}

// -----

// A window op is fused with both its producer and its consumer: the pad in between becomes part of the same kernel.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0_tail
// CHECK-NOT: top.launch
// CHECK: func.func private @k0_tail(
// CHECK: tensor.pad
// CHECK: linalg.depthwise_conv_2d_nhwc_hwc
// CHECK: arith.maximumf
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @main(%x: tensor<1x4x6x8xf32>, %w: tensor<3x3x8xf32>) -> tensor<1x4x6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x6x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x4x6x8xf32>) outs(%e : tensor<1x4x6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %in : f32
    linalg.yield %a : f32
  } -> tensor<1x4x6x8xf32> loc("head")
  %p = tensor.pad %0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x4x6x8xf32> to tensor<1x6x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  %1 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<1x6x8x8xf32>, tensor<3x3x8xf32>) outs(%f : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32> loc("dw")
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%1 : tensor<1x4x6x8xf32>) outs(%e : tensor<1x4x6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.maximumf %in, %zero : f32
    linalg.yield %a : f32
  } -> tensor<1x4x6x8xf32> loc("tail")
  return %2 : tensor<1x4x6x8xf32>
}

// -----

// A function behind a product is left to the product's kernel; of an input of the net it stays with the window.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0_proj
// CHECK: top.launch @k2_alone ins(%{{.*}} : tensor<1x4x6x8xf32>, tensor<3x3x8xf32>) {{.*}} {absorbed = ["own"]
// CHECK: top.launch @k1_gate
// CHECK: top.launch @k3_behind
// CHECK-NOT: top.launch
// ALL-LABEL: func.func @main
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @main(%x: tensor<1x4x6x8xf32>, %p: tensor<1x1x8x8xf32>, %w: tensor<3x3x8xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x6x8xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %p : tensor<1x4x6x8xf32>, tensor<1x1x8x8xf32>) outs(%c : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32> loc("proj")
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<1x4x6x8xf32>) outs(%e : tensor<1x4x6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.exp %in : f32
    linalg.yield %a : f32
  } -> tensor<1x4x6x8xf32> loc("gate")
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x4x6x8xf32>) outs(%e : tensor<1x4x6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.exp %in : f32
    linalg.yield %a : f32
  } -> tensor<1x4x6x8xf32> loc("own")
  %s = tensor.empty() : tensor<1x2x4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%s : tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  %3 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%1, %w : tensor<1x4x6x8xf32>, tensor<3x3x8xf32>) outs(%f : tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> loc("behind")
  %4 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%2, %w : tensor<1x4x6x8xf32>, tensor<3x3x8xf32>) outs(%f : tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> loc("alone")
  return %3, %4 : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
}

// -----

// A hardswish of f32 behind a product is computed by the window, which saves the bytes between the two.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0_proj
// CHECK: top.launch @k1_dw {{.*}} {absorbed = ["hswish"]
// CHECK-NOT: top.launch
// ALL-LABEL: func.func @main
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @main(%x: tensor<1x4x6x8xf32>, %p: tensor<1x1x8x8xf32>, %w: tensor<3x3x8xf32>) -> tensor<1x2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3.0 : f32
  %six = arith.constant 6.0 : f32
  %sixth = arith.constant 0.166666672 : f32
  %e = tensor.empty() : tensor<1x4x6x8xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %p : tensor<1x4x6x8xf32>, tensor<1x1x8x8xf32>) outs(%c : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32> loc("proj")
  %h = tensor.empty() : tensor<1x4x6x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<1x4x6x8xf32>) outs(%h : tensor<1x4x6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %three : f32
    %b = arith.maximumf %a, %zero : f32
    %d = arith.minimumf %b, %six : f32
    %f = arith.mulf %in, %d : f32
    %g = arith.mulf %f, %sixth : f32
    linalg.yield %g : f32
  } -> tensor<1x4x6x8xf32> loc("hswish")
  %s = tensor.empty() : tensor<1x2x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%s : tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  %2 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%1, %w : tensor<1x4x6x8xf32>, tensor<3x3x8xf32>) outs(%z : tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> loc("dw")
  return %2 : tensor<1x2x4x8xf32>
}

// -----

// In a narrower type it stays behind the product.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0_proj
// CHECK: top.launch @k1_hswish
// CHECK: top.launch @k2_dw
// CHECK-NOT: top.launch
// ALL-LABEL: func.func @main
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @main(%x: tensor<1x4x6x8xf16>, %p: tensor<1x1x8x8xf16>, %w: tensor<3x3x8xf32>) -> tensor<1x2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3.0 : f32
  %six = arith.constant 6.0 : f32
  %sixth = arith.constant 0.166666672 : f32
  %e = tensor.empty() : tensor<1x4x6x8xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %p : tensor<1x4x6x8xf16>, tensor<1x1x8x8xf16>) outs(%c : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32> loc("proj")
  %h = tensor.empty() : tensor<1x4x6x8xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<1x4x6x8xf32>) outs(%h : tensor<1x4x6x8xf16>) {
  ^bb0(%in: f32, %out: f16):
    %a = arith.addf %in, %three : f32
    %b = arith.maximumf %a, %zero : f32
    %d = arith.minimumf %b, %six : f32
    %f = arith.mulf %in, %d : f32
    %g = arith.mulf %f, %sixth : f32
    %n = arith.truncf %g : f32 to f16
    linalg.yield %n : f16
  } -> tensor<1x4x6x8xf16> loc("hswish")
  %s = tensor.empty() : tensor<1x2x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%s : tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  %2 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%1, %w : tensor<1x4x6x8xf16>, tensor<3x3x8xf32>) outs(%z : tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> loc("dw")
  return %2 : tensor<1x2x4x8xf32>
}

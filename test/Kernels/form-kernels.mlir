// RUN: pto-opt %s --split-input-file --form-kernels | FileCheck %s
// RUN: pto-opt %s --split-input-file --form-kernels=keep-all=true | FileCheck %s --check-prefix=ALL

// A contraction is fused with the following relu and cast, relu first; identical kernels are created once.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = top.launch @k0_relu ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8x8xf16>, tensor<8xf32>) outs(%{{.*}} : tensor<4x8xf16>) {absorbed = ["mm"], layouts = [""], names = ["relu"]} -> tensor<4x8xf16>
// CHECK: top.launch @k0_relu ins(%[[A]], {{.*}} {absorbed = ["mm2"], layouts = [""], names = ["relu2"]}
// CHECK-NOT: top.launch
// CHECK: func.func private @k0_relu(%[[X:.*]]: tensor<4x8xf16>, %[[W:.*]]: tensor<8x8xf16>, %[[B:.*]]: tensor<8xf32>, %[[OUT:.*]]: tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-SAME: pto.kernel_kind = #pto.kernel_kind<cube>
// CHECK: %[[I:.*]] = linalg.broadcast ins(%[[B]] : tensor<8xf32>)
// CHECK: %[[M:.*]] = linalg.matmul ins(%[[X]], %[[W]] : {{.*}}) outs(%[[I]] : tensor<4x8xf32>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[M]] : tensor<4x8xf32>)
// CHECK: arith.maximumf {{.*}} : f32
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[R]] : tensor<4x8xf32>) outs(%[[OUT]] : tensor<4x8xf16>)
// CHECK: arith.truncf
// CHECK: return %[[T]]
// CHECK-NOT: func.func
// ALL-LABEL: func.func @main
// ALL: absorbed = ["mm"]
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<4x8xf16>, %w: tensor<8x8xf16>, %b: tensor<8xf32>) -> tensor<4x8xf16> {
  %e = tensor.empty() : tensor<4x8xf32>
  %h = tensor.empty() : tensor<4x8xf16>
  %zero = arith.constant 0.0 : f16
  %i = linalg.broadcast ins(%b : tensor<8xf32>) outs(%e : tensor<4x8xf32>) dimensions = [0]
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf16>, tensor<8x8xf16>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32> loc(unknown)
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x8xf32>) outs(%h : tensor<4x8xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x8xf16> loc("mm")
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4x8xf16>) outs(%h : tensor<4x8xf16>) {
  ^bb0(%in: f16, %out: f16):
    %t = arith.maximumf %in, %zero : f16
    linalg.yield %t : f16
  } -> tensor<4x8xf16> loc("relu")
  %j = linalg.broadcast ins(%b : tensor<8xf32>) outs(%e : tensor<4x8xf32>) dimensions = [0]
  %3 = linalg.matmul ins(%2, %w : tensor<4x8xf16>, tensor<8x8xf16>) outs(%j : tensor<4x8xf32>) -> tensor<4x8xf32> loc(unknown)
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<4x8xf32>) outs(%h : tensor<4x8xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x8xf16> loc("mm2")
  %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<4x8xf16>) outs(%h : tensor<4x8xf16>) {
  ^bb0(%in: f16, %out: f16):
    %t = arith.maximumf %in, %zero : f16
    linalg.yield %t : f16
  } -> tensor<4x8xf16> loc("relu2")
  return %5 : tensor<4x8xf16>
}

// -----

// The mean ends its cluster (tiles must not recompute it) but is fused with consumers on its single row; the gate of one row is fused into the kernel that
// broadcasts it, unless its value is to be kept.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = top.launch @k0_abs ins(%{{.*}} : tensor<6x8xf32>)
// CHECK: %[[M:.*]] = top.launch @k1_root ins(%[[A]] : tensor<6x8xf32>) {{.*}} {absorbed = ["mean"], {{.*}} -> tensor<8xf32>
// CHECK: top.launch @k2_gated ins(%{{.*}}, %[[A]], %[[M]] : tensor<8xf32>, tensor<6x8xf32>, tensor<8xf32>) {{.*}} {absorbed = ["gate"], layouts = [""], names = ["gated"]}
// CHECK-NOT: top.launch
// ALL-LABEL: func.func @main
// ALL: top.launch @{{.*}}_root {{.*}} names = ["mean", "root"]
// ALL: top.launch @{{.*}}_gate {{.*}} names = ["gate"]
// ALL: top.launch @{{.*}}_gated {{.*}} names = ["gated"]
#whole = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<6x8xf32>, %y: tensor<8xf32>) -> tensor<6x8xf32> {
  %e = tensor.empty() : tensor<6x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = math.absf %in : f32
    linalg.yield %t : f32
  } -> tensor<6x8xf32> loc("abs")
  %f = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "parallel"]} ins(%0 : tensor<6x8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %in, %out : f32
    linalg.yield %t : f32
  } -> tensor<8xf32> loc("mean")
  %r = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%1 : tensor<8xf32>) outs(%v : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = math.sqrt %in : f32
    linalg.yield %t : f32
  } -> tensor<8xf32> loc("root")
  %2 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%y : tensor<8xf32>) outs(%v : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = math.exp %in : f32
    linalg.yield %t : f32
  } -> tensor<8xf32> loc("gate")
  %3 = linalg.generic {indexing_maps = [#whole, #column, #column, #whole], iterator_types = ["parallel", "parallel"]} ins(%0, %2, %r : tensor<6x8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<6x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %s = arith.mulf %a, %b : f32
    %t = arith.addf %s, %c : f32
    linalg.yield %t : f32
  } -> tensor<6x8xf32> loc("gated")
  return %3 : tensor<6x8xf32>
}

// -----

// Softmax is one kernel, with the preceding elementwise op; inline tensors are weights, splats scalars.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = top.weight "constant" : tensor<3xf32>
// CHECK: top.launch @k0_softmax ins(%{{.*}}, %[[W]] : tensor<2x3xf32>, tensor<3xf32>)
// CHECK-SAME: absorbed = ["sum"]
// CHECK-NOT: top.launch
// CHECK: func.func private @k0_softmax
// CHECK-COUNT-5: linalg.generic
#w = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
#c = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %bias = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %s = tensor.empty() : tensor<2xf32>
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#w, #c, #w], iterator_types = ["parallel", "parallel"]} ins(%x, %bias : tensor<2x3xf32>, tensor<3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x3xf32> loc("sum")
  %f = linalg.fill ins(%low : f32) outs(%s : tensor<2xf32>) -> tensor<2xf32>
  %1 = linalg.generic {indexing_maps = [#w, #r], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<2x3xf32>) outs(%f : tensor<2xf32>) {
  ^bb0(%a: f32, %out: f32):
    %t = arith.maximumf %a, %out : f32
    linalg.yield %t : f32
  } -> tensor<2xf32> loc(unknown)
  %2 = linalg.generic {indexing_maps = [#w, #r, #w], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<2x3xf32>, tensor<2xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %d = arith.subf %a, %b : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<2x3xf32> loc(unknown)
  %g = linalg.fill ins(%zero : f32) outs(%s : tensor<2xf32>) -> tensor<2xf32>
  %3 = linalg.generic {indexing_maps = [#w, #r], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<2x3xf32>) outs(%g : tensor<2xf32>) {
  ^bb0(%a: f32, %out: f32):
    %t = arith.addf %a, %out : f32
    linalg.yield %t : f32
  } -> tensor<2xf32> loc(unknown)
  %4 = linalg.generic {indexing_maps = [#w, #r, #w], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<2x3xf32>, tensor<2xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x3xf32> loc("softmax")
  return %4 : tensor<2x3xf32>
}

// -----

// Data movement is a separate kernel.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0_t ins(%{{.*}} : tensor<2x3xf32>) outs(%{{.*}} : tensor<3x2xf32>)
// CHECK: top.launch @k1_cat
// CHECK: func.func private @k0_t
// CHECK: linalg.transpose
// CHECK: func.func private @k1_cat
// CHECK: tensor.concat
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0] loc("t")
  %1 = tensor.concat dim(1) %0, %0 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32> loc("cat")
  return %1 : tensor<3x4xf32>
}

// RUN: pto-opt %s --split-input-file --form-kernels | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// A product that the net returns is stored from the cube as f32: no rounding, no widening kernel, under the name of the output; relu and
// a reshape in between do not prevent it.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: tensor.empty() : tensor<4x6xf32>
// CHECK-NEXT: %[[R:.*]] = top.launch @k0_scores {{.*}}names = ["scores"]} -> tensor<4x6xf32>
// CHECK-NEXT: %[[E:.*]] = tensor.expand_shape %[[R]]
// CHECK-NEXT: return %[[E]] : tensor<2x2x6xf32>
// CHECK: func.func private @k0_scores
// CHECK: linalg.matmul
// CHECK-NOT: arith.truncf
// CHECK: arith.maximumf %{{.*}} : f32
// CHECK-NOT: arith.truncf
func.func @main(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<2x2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %narrow = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4x6xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf16>, tensor<8x6xf16>) outs(%i : tensor<4x6xf32>) -> tensor<4x6xf32>
  %f = tensor.empty() : tensor<4x6xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x6xf32>) outs(%f : tensor<4x6xf16>) {
  ^bb0(%a: f32, %b: f16):
    %t = arith.truncf %a : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x6xf16> loc("product")
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4x6xf16>) outs(%f : tensor<4x6xf16>) {
  ^bb0(%a: f16, %b: f16):
    %t = arith.maximumf %a, %narrow : f16
    linalg.yield %t : f16
  } -> tensor<4x6xf16> loc("scores")
  %g = tensor.empty() : tensor<4x6xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4x6xf16>) outs(%g : tensor<4x6xf32>) {
  ^bb0(%a: f16, %b: f32):
    %t = arith.extf %a : f16 to f32
    linalg.yield %t : f32
  } -> tensor<4x6xf32> loc("scores")
  %4 = tensor.expand_shape %3 [[0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xf32> into tensor<2x2x6xf32>
  return %4 : tensor<2x2x6xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The extension is placed next to the computation and fused with it; a rounding with a mode comes from the model and is kept.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: %[[T:.*]] = top.launch @k0_moved {{.*}} {absorbed = ["sum"]{{.*}} -> tensor<4x8xf32>
// CHECK: top.launch @k1_rounded {{.*}} -> tensor<4x8xf32>
// CHECK: func.func private @k0_moved({{.*}}tensor<8x4xf16>, %{{.*}}: tensor<4x8xf32>)
// CHECK: linalg.transpose
// CHECK: func.func private @k1_rounded
// CHECK: arith.truncf %{{.*}} to_nearest_even : f32 to f16
// CHECK: arith.extf
func.func @main(%x: tensor<8x4xf16>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<8x4xf16>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xf16>) outs(%e : tensor<8x4xf16>) {
  ^bb0(%a: f16, %b: f16):
    %t = arith.addf %a, %a : f16
    linalg.yield %t : f16
  } -> tensor<8x4xf16> loc("sum")
  %f = tensor.empty() : tensor<4x8xf16>
  %1 = linalg.transpose ins(%0 : tensor<8x4xf16>) outs(%f : tensor<4x8xf16>) permutation = [1, 0] loc("moved")
  %g = tensor.empty() : tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4x8xf16>) outs(%g : tensor<4x8xf32>) {
  ^bb0(%a: f16, %b: f32):
    %t = arith.extf %a : f16 to f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32> loc("moved")
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<4x8xf32>) outs(%f : tensor<4x8xf16>) {
  ^bb0(%a: f32, %b: f16):
    %t = arith.truncf %a to_nearest_even : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x8xf16> loc("cast")
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<4x8xf16>) outs(%g : tensor<4x8xf32>) {
  ^bb0(%a: f16, %b: f32):
    %t = arith.extf %a : f16 to f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32> loc("rounded")
  return %2, %4 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// bf16 computes its relu in f32; it is still fused into the product.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: tensor.empty() : tensor<4x6xbf16>
// CHECK-NEXT: %[[R:.*]] = top.launch @k0_scores {{.*}} -> tensor<4x6xbf16>
// CHECK-NEXT: return %[[R]]
// CHECK: linalg.matmul
// CHECK: arith.maximumf %{{.*}} : f32
// CHECK: arith.truncf
func.func @main(%x: tensor<4x8xbf16>, %w: tensor<8x6xbf16>) -> tensor<4x6xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xbf16>, tensor<8x6xbf16>) outs(%i : tensor<4x6xf32>) -> tensor<4x6xf32>
  %f = tensor.empty() : tensor<4x6xbf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x6xf32>) outs(%f : tensor<4x6xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x6xbf16> loc("product")
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4x6xbf16>) outs(%f : tensor<4x6xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %w32 = arith.extf %a : bf16 to f32
    %m = arith.maximumf %w32, %zero : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x6xbf16> loc("scores")
  return %2 : tensor<4x6xbf16>
}

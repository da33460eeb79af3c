// RUN: pto-opt %s --split-input-file --tile-vector-kernels | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// x * sigmoid(x), fused: both the sigmoid and the product are f32; the product is rounded once.
// CHECK-LABEL: func.func private @swish
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[X:.*]]: f16,
// CHECK: arith.divf {{.*}} : f32
// CHECK-NOT: arith.truncf
// CHECK: %[[P:.*]] = arith.mulf {{.*}} : f32
// CHECK-NEXT: %[[R:.*]] = arith.truncf %[[P]] : f32 to f16
// CHECK-NEXT: linalg.yield %[[R]] : f16
func.func private @swish(%x: tensor<96xf16>, %out: tensor<96xf16>) -> tensor<96xf16>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<96xf16>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<96xf16>) outs(%e : tensor<96xf16>) {
  ^bb0(%a: f16, %b: f16):
    %wide = arith.extf %a : f16 to f32
    %neg = arith.negf %wide : f32
    %exp = math.exp %neg : f32
    %sum = arith.addf %exp, %one : f32
    %s = arith.divf %one, %sum : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<96xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %0 : tensor<96xf16>, tensor<96xf16>) outs(%out : tensor<96xf16>) {
  ^bb0(%a: f16, %s: f16, %b: f16):
    %t = arith.mulf %a, %s : f16
    linalg.yield %t : f16
  } -> tensor<96xf16>
  return %1 : tensor<96xf16>
}

// -----

#id = affine_map<(d0) -> (d0)>

// f16 that no f32 value reaches stays f16; a value extended at the end is computed in f32, and a rounding with a mode is kept.
// CHECK-LABEL: func.func private @ends
// CHECK: linalg.generic
// CHECK: arith.addf {{.*}} : f16
// CHECK: linalg.generic
// CHECK: %[[R:.*]] = arith.truncf %{{.*}} to_nearest_even : f32 to f16
// CHECK: %[[E:.*]] = arith.extf %[[R]]
// CHECK: %[[M:.*]] = arith.mulf %[[E]], %{{.*}} : f32
// CHECK-NEXT: linalg.yield %[[M]] : f32
func.func private @ends(%x: tensor<96xf16>, %y: tensor<96xf32>, %out: tensor<96xf16>, %wide: tensor<96xf32>) -> (tensor<96xf16>, tensor<96xf32>)
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %two = arith.constant 2.0 : f16
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<96xf16>) outs(%out : tensor<96xf16>) {
  ^bb0(%a: f16, %b: f16):
    %t = arith.addf %a, %a : f16
    linalg.yield %t : f16
  } -> tensor<96xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<96xf32>) outs(%wide : tensor<96xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.truncf %a to_nearest_even : f32 to f16
    %m = arith.mulf %r, %two : f16
    %e = arith.extf %m : f16 to f32
    linalg.yield %e : f32
  } -> tensor<96xf32>
  return %0, %1 : tensor<96xf16>, tensor<96xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Two rounding steps, fused, round once; a sum followed by relu already rounds once.
// CHECK-LABEL: func.func private @chain
// CHECK: linalg.generic
// CHECK: %[[W:.*]] = arith.extf
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[W]], %{{.*}} : f32
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[M]], %{{.*}} : f32
// CHECK-NEXT: arith.truncf %[[A]]
// CHECK: linalg.generic
// CHECK: arith.addf {{.*}} : f16
// CHECK-NEXT: arith.maximumf {{.*}} : f16
func.func private @chain(%x: tensor<96xf16>, %out: tensor<96xf16>, %other: tensor<96xf16>) -> (tensor<96xf16>, tensor<96xf16>)
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0.0 : f16
  %two = arith.constant 2.5 : f16
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<96xf16>) outs(%out : tensor<96xf16>) {
  ^bb0(%a: f16, %b: f16):
    %m = arith.mulf %a, %two : f16
    %s = arith.addf %m, %two : f16
    linalg.yield %s : f16
  } -> tensor<96xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<96xf16>) outs(%other : tensor<96xf16>) {
  ^bb0(%a: f16, %b: f16):
    %s = arith.addf %a, %a : f16
    %r = arith.maximumf %s, %zero : f16
    linalg.yield %r : f16
  } -> tensor<96xf16>
  return %0, %1 : tensor<96xf16>, tensor<96xf16>
}

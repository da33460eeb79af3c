// RUN: pto-opt %s --split-input-file --tile-vector-kernels | FileCheck %s

#id = affine_map<(i) -> (i)>

// x (1 + erf(x / c)), rounded to f16: erfc alone, of the magnitude, without a quotient or a choice between signs.
// CHECK-LABEL: func.func private @gelu
// CHECK-NOT: arith.divf
// CHECK-NOT: arith.select
// CHECK: arith.minimumf
// CHECK: math.exp
// CHECK: arith.maximumf
// CHECK: arith.subf
// CHECK-NEXT: arith.truncf
func.func private @gelu(%a: tensor<4096xf16>, %out: tensor<4096xf16>) -> tensor<4096xf16>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %root = arith.constant 1.41421354 : f32
  %one = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<4096xf16>) outs(%out : tensor<4096xf16>) {
  ^bb0(%x: f16, %o: f16):
    %w = arith.extf %x : f16 to f32
    %u = arith.divf %w, %root : f32
    %e = math.erf %u : f32
    %s = arith.addf %e, %one : f32
    %p = arith.mulf %s, %w : f32
    %r = arith.truncf %p : f32 to f16
    linalg.yield %r : f16
  } -> tensor<4096xf16>
  return %0 : tensor<4096xf16>
}

// -----

#id = affine_map<(i) -> (i)>

// One operand twice, as fusion leaves it, is one element.
// CHECK-LABEL: func.func private @twice
// CHECK-NOT: arith.select
// CHECK: arith.maximumf
// CHECK: arith.truncf
func.func private @twice(%a: tensor<4096xf16>, %out: tensor<4096xf16>) -> tensor<4096xf16>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %root = arith.constant 0.707106769 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %a : tensor<4096xf16>, tensor<4096xf16>) outs(%out : tensor<4096xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %w = arith.extf %x : f16 to f32
    %v = arith.extf %y : f16 to f32
    %u = arith.mulf %v, %root : f32
    %e = math.erf %u : f32
    %s = arith.addf %e, %one : f32
    %p = arith.mulf %s, %w : f32
    %q = arith.mulf %p, %half : f32
    %r = arith.truncf %q : f32 to f16
    linalg.yield %r : f16
  } -> tensor<4096xf16>
  return %0 : tensor<4096xf16>
}

// -----

#id = affine_map<(i) -> (i)>

// Another factor than x leaves the sign to choose: erfc where x < 0, 2 - erfc elsewhere.
// CHECK-LABEL: func.func private @gated
// CHECK-NOT: arith.divf
// CHECK: math.exp
// CHECK-COUNT-1: arith.select
// CHECK-NOT: arith.select
// CHECK: arith.truncf
func.func private @gated(%a: tensor<4096xf16>, %b: tensor<4096xf16>, %out: tensor<4096xf16>) -> tensor<4096xf16>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %root = arith.constant 1.41421354 : f32
  %one = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<4096xf16>, tensor<4096xf16>) outs(%out : tensor<4096xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %w = arith.extf %x : f16 to f32
    %g = arith.extf %y : f16 to f32
    %u = arith.divf %w, %root : f32
    %e = math.erf %u : f32
    %s = arith.addf %e, %one : f32
    %p = arith.mulf %s, %g : f32
    %r = arith.truncf %p : f32 to f16
    linalg.yield %r : f16
  } -> tensor<4096xf16>
  return %0 : tensor<4096xf16>
}

// -----

#id = affine_map<(i) -> (i)>

// What is not rounded keeps its quotient, and the digits of erf near 0.
// CHECK-LABEL: func.func private @wide
// CHECK: arith.divf
// CHECK-COUNT-2: arith.select
func.func private @wide(%a: tensor<4096xf32>, %out: tensor<4096xf32>) -> tensor<4096xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %root = arith.constant 1.41421354 : f32
  %one = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<4096xf32>) outs(%out : tensor<4096xf32>) {
  ^bb0(%x: f32, %o: f32):
    %u = arith.divf %x, %root : f32
    %e = math.erf %u : f32
    %s = arith.addf %e, %one : f32
    %p = arith.mulf %s, %x : f32
    linalg.yield %p : f32
  } -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// 49 * (1 / 49) is below 1 in f32: before a function that jumps the quotient stays. So does erf + 1 with another reader.
// CHECK-LABEL: func.func private @jumps
// CHECK: arith.divf
// CHECK: math.roundeven
// CHECK-COUNT-2: arith.select
func.func private @jumps(%a: tensor<4096xf16>, %out: tensor<4096xf16>) -> tensor<4096xf16>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c = arith.constant 49.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<4096xf16>) outs(%out : tensor<4096xf16>) {
  ^bb0(%x: f16, %o: f16):
    %w = arith.extf %x : f16 to f32
    %q = arith.divf %w, %c : f32
    %n = math.roundeven %q : f32
    %e = math.erf %n : f32
    %s = arith.addf %e, %one : f32
    %d = arith.subf %s, %one : f32
    %r = arith.truncf %d : f32 to f16
    linalg.yield %r : f16
  } -> tensor<4096xf16>
  return %0 : tensor<4096xf16>
}

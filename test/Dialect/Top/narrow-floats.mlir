// RUN: pto-opt %s --split-input-file --verify-diagnostics | pto-opt --split-input-file | FileCheck %s
// RUN: pto-opt %s --split-input-file --verify-diagnostics --top-legalize-types | FileCheck %s --check-prefix=HOST

// Types that MLIR lacks are printed and read back. The engines cast between values and codes, the host stores codes.
// CHECK-LABEL: func.func @main(%{{.*}}: tensor<3x!top.f4E2M1>, %{{.*}}: tensor<3xf32>) -> (tensor<3xf32>, tensor<3x!top.f8E8M0>)
// CHECK: top.cast %{{.*}} {round = "down", to = !top.f8E8M0} : (tensor<3xf32>) -> tensor<3x!top.f8E8M0>
// HOST: %[[B:.*]] = top.host "bitcast"(%arg0) {reason = "bits in another type"} : (tensor<3x!top.f4E2M1>) -> tensor<3xui4>
// HOST: %[[I:.*]] = top.host "cast"(%[[B]]) {{.*}} : (tensor<3xui4>) -> tensor<3xi32>
// HOST: top.decode_float %[[I]] {from = !top.f4E2M1, top.wide} : (tensor<3xi32>) -> tensor<3xf32>
// HOST: %[[C:.*]] = top.encode_float %arg1 {round = "down", to = !top.f8E8M0} : (tensor<3xf32>) -> tensor<3xi32>
// HOST: %[[U:.*]] = top.cast %[[C]] {to = ui8} : (tensor<3xi32>) -> tensor<3xui8>
// HOST: top.host "bitcast"(%[[U]]) {{.*}} : (tensor<3xui8>) -> tensor<3x!top.f8E8M0>
module {
  func.func @main(%x: tensor<3x!top.f4E2M1>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3x!top.f8E8M0>) {
    %0 = top.cast %x {to = f32} : (tensor<3x!top.f4E2M1>) -> tensor<3xf32>
    %1 = top.cast %y {to = !top.f8E8M0, round = "down"} : (tensor<3xf32>) -> tensor<3x!top.f8E8M0>
    return %0, %1 : tensor<3xf32>, tensor<3x!top.f8E8M0>
  }
}

// -----

// expected-error @+1 {{top has the types f4E2M1, f8E8M0 and string, not 'f5'}}
func.func private @main(%x: tensor<3x!top.f5>)

// -----

func.func @main(%x: tensor<3xf32>) {
  // expected-error @+2 {{expects a float of 8 or 4 bits in 'to', got 'f16'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.encode_float %x {to = f16} : (tensor<3xf32>) -> tensor<3xi32>
  return
}

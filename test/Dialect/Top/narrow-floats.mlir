// RUN: pto-opt %s --split-input-file --verify-diagnostics | pto-opt --split-input-file | FileCheck %s
// RUN: pto-opt %s --split-input-file --verify-diagnostics --top-legalize-types | FileCheck %s --check-prefix=HOST

// Types that MLIR lacks are printed and read back; casts and movement are the host's.
// CHECK-LABEL: func.func @main(%{{.*}}: tensor<3x!top.f4E2M1>, %{{.*}}: tensor<3xf32>) -> (tensor<3xf32>, tensor<3x!top.f8E8M0>)
// CHECK: top.cast %{{.*}} {round = "down", to = !top.f8E8M0} : (tensor<3xf32>) -> tensor<3x!top.f8E8M0>
// HOST: top.host "cast"(%{{.*}}){{.*}}"elements of type !top.f4E2M1"
// HOST: top.host "cast"(%{{.*}}){{.*}}round = "down"
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

// RUN: pto-opt %s --verify-diagnostics --top-legalize-types

module {
  func.func @main(%x: tensor<3x!top.f4E2M1>) -> tensor<3x!top.f4E2M1> {
    // expected-error @+1 {{computes elements of type !top.f4E2M1, which neither the engines nor the host do}}
    %0 = top.add %x, %x : (tensor<3x!top.f4E2M1>, tensor<3x!top.f4E2M1>) -> tensor<3x!top.f4E2M1>
    return %0 : tensor<3x!top.f4E2M1>
  }
}

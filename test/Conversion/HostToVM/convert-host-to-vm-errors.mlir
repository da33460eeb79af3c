// RUN: pto-opt %s --convert-host-to-vm --verify-diagnostics

// expected-error @below {{expects a function @main that plan-global-memory has placed}}
module {
  func.func @main(%x: tensor<4xf32>) {
    return
  }
}

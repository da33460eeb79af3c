// RUN: pto-opt %s --split-input-file --form-kernels --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'top.relu' op fits no kernel; form-kernels takes what convert-top-to-linalg leaves (docs/lowering.md section 3)}}
  %0 = top.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}


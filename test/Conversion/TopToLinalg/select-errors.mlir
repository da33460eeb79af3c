// RUN: pto-opt %s --convert-top-to-linalg --split-input-file --verify-diagnostics

module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<2x9000xf32>) -> tensor<2x5000xf32> {
    // expected-error @+1 {{'top.topk_values' op has no kernel: k is 5000; 4096 is the most in rows of more than 2048 elements}}
    %v = top.topk_values %x {k = 5000} : (tensor<2x9000xf32>) -> tensor<2x5000xf32>
    return %v : tensor<2x5000xf32>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<2x30000xf32>, %i: tensor<2x5xi32>) -> tensor<2x5xf32> {
    // expected-error @+1 {{'top.gather_elements' op has no kernel: a row has 120000 bytes; 94208 are the most on a3}}
    %v = top.gather_elements %x, %i : (tensor<2x30000xf32>, tensor<2x5xi32>) -> tensor<2x5xf32>
    return %v : tensor<2x5xf32>
  }
}

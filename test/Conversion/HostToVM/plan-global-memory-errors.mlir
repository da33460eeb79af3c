// RUN: pto-opt %s --plan-global-memory --split-input-file --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{output 0 is an input or a constant; an output must be computed by a kernel}}
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %0 = top.launch @a ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{output 1 is the same tensor as another output}}
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{expects a function @main of one block}}
module {
}

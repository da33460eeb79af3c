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

// -----

// What reads the old state needs what the write leaves.
func.func @main(%past: tensor<8x4xf32> {top.name = "past", top.state_axis = 0 : i64}, %x: tensor<1x4xf32>, %at: tensor<1xi32> {top.state_position})
    -> (tensor<8x4xf32>, tensor<8x4xf32> {top.name = "present", top.state_of = "past"}) {
  %e = tensor.empty() : tensor<8x4xf32>
  %w = top.launch @write ins(%x, %at : tensor<1x4xf32>, tensor<1xi32>) outs(%past : tensor<8x4xf32>) -> tensor<8x4xf32> loc("present")
  // expected-error @below {{reads the state 'past' as it was before the run, and needs what 'present' writes into it}}
  %y = top.launch @both ins(%w, %past : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y, %w : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// expected-error @below {{the new value of state 'past' is not made of it by writing rows}}
func.func @main(%past: tensor<8x4xf32> {top.name = "past", top.state_axis = 0 : i64})
    -> (tensor<8x4xf32> {top.name = "present", top.state_of = "past"}) {
  %e = tensor.empty() : tensor<8x4xf32>
  %w = top.launch @other ins(%past : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %w : tensor<8x4xf32>
}

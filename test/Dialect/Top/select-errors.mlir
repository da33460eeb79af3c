// RUN: pto-opt %s --split-input-file --verify-diagnostics

func.func @main(%x: tensor<3x8xf32>) -> tensor<3x9xf32> {
  // expected-error @+2 {{'top.topk_values' op expects k from 1 to 8, got 9}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.topk_values %x {k = 9} : (tensor<3x8xf32>) -> tensor<3x9xf32>
  return %0 : tensor<3x9xf32>
}

// -----

func.func @main(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+2 {{'top.topk_values' op expects rows, got a scalar}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.topk_values %x {k = 1} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @main(%x: tensor<3x8xf32>, %i: tensor<2x4xi64>) -> tensor<2x4xf32> {
  // expected-error @+2 {{'top.gather_elements' op expects data and indices with the same rows, got 3x8 and 2x4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.gather_elements %x, %i : (tensor<3x8xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @main(%x: tensor<3x8xf32>, %i: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+2 {{'top.gather_elements' op expects indices of type i32 or i64, got 'f32'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.gather_elements %x, %i : (tensor<3x8xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

func.func @main(%x: tensor<3x8xf32>, %p: tensor<5xi64>, %u: tensor<4x8xf32>) -> tensor<3x8xf32> {
  // expected-error @+2 {{'top.scatter' op expects data [rows, n], positions [count] and updates [count, n], got 3x8, 5 and 4x8}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.scatter %x, %p, %u : (tensor<3x8xf32>, tensor<5xi64>, tensor<4x8xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

func.func @main(%x: tensor<3x8xf32>, %p: tensor<5xi64>, %u: tensor<5x8xf32>) -> tensor<3x8xf32> {
  // expected-error @+2 {{'top.scatter' op expects the reduction none, add, mul, max or min, got 'mean'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.scatter %x, %p, %u {reduction = "mean"} : (tensor<3x8xf32>, tensor<5xi64>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

func.func @main(%x: tensor<3x8xf32>, %y: tensor<3x9xf32>) -> tensor<3x9xf32> {
  // expected-error @+2 {{'top.repeat_rows' op expects a tensor like that has the input's shape behind one dimension, got 3x8 and 3x9}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.repeat_rows %x, %y : (tensor<3x8xf32>, tensor<3x9xf32>) -> tensor<3x9xf32>
  return %0 : tensor<3x9xf32>
}

// -----

func.func @main(%x: tensor<2x8x4xf32>) -> tensor<2x3x4xf32> {
  // expected-error @+2 {{'top.take_rows' op expects rows of the 8 that there are, got 3 from 6}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.take_rows %x {first = 6, count = 3} : (tensor<2x8x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

func.func @main(%x: tensor<2x8x4xf32>) -> tensor<4x8x2xf32> {
  // expected-error @+2 {{'top.transpose_rows' op expects two dimensions, got 2x8x4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.transpose_rows %x : (tensor<2x8x4xf32>) -> tensor<4x8x2xf32>
  return %0 : tensor<4x8x2xf32>
}

// -----

func.func @main(%x: tensor<2x8x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+2 {{'top.reduce_rows' op expects at least one part, got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.reduce_rows %x {kind = "sum", parts = 0} : (tensor<2x8x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @main(%x: tensor<2x8x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+2 {{'top.reduce_rows' op expects a kind of sum, mean, max or min, got product}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.reduce_rows %x {kind = "product"} : (tensor<2x8x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

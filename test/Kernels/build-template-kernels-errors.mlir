// RUN: pto-opt %s --build-template-kernels --split-input-file --verify-diagnostics
// RUN: not pto-opt %s --build-template-kernels=num-cores=-1 --split-input-file 2>&1 | FileCheck %s
// CHECK: num-cores must not be negative, got -1

module attributes {pto.target_arch = "a3"} {
  func.func private @deep(%x: tensor<2x9000xf32>, %o: tensor<2x5000xf32>) -> tensor<2x5000xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @+1 {{has no kernel: k is 5000; 4096 is the most in rows of more than 2048 elements}}
    %0 = top.topk_values %x {k = 5000} : (tensor<2x9000xf32>) -> tensor<2x5000xf32>
    return %0 : tensor<2x5000xf32>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func private @double(%x: tensor<2x9xf64>, %i: tensor<2x4xi32>, %o: tensor<2x4xf64>) -> tensor<2x4xf64> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @+1 {{has no kernel: elements of 16 and 32 bits can be gathered}}
    %0 = top.gather_elements %x, %i : (tensor<2x9xf64>, tensor<2x4xi32>) -> tensor<2x4xf64>
    return %0 : tensor<2x4xf64>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func private @inner(%x: tensor<2x9xf32>, %o: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %0 = top.relu %x : (tensor<2x9xf32>) -> tensor<2x9xf32>
    // expected-error @+1 {{reads what its kernel computes; form-kernels gives it a kernel of its own}}
    %1 = top.topk_values %0 {k = 2} : (tensor<2x9xf32>) -> tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func private @doubles(%x: tensor<2x9x4xf64>, %o: tensor<2x4xf64>) -> tensor<2x4xf64> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @+1 {{has no kernel: rows of f32, f16 and bf16 can be reduced}}
    %0 = top.reduce_rows %x {kind = "sum"} : (tensor<2x9x4xf64>) -> tensor<2x4xf64>
    return %0 : tensor<2x4xf64>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func private @bytes(%x: tensor<9x4xi64>, %y: tensor<2x9x4xf64>, %o: tensor<2x9x4xf64>) -> tensor<2x9x4xf64> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @+1 {{has no kernel: elements of 16 and 32 bits can be copied}}
    %0 = top.take_rows %y {first = 0, count = 9} : (tensor<2x9x4xf64>) -> tensor<2x9x4xf64>
    return %0 : tensor<2x9x4xf64>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func private @wide(%x: tensor<2x9xf64>, %o: tensor<9x2xf64>) -> tensor<9x2xf64> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @+1 {{has no kernel: matrices of 16 and 32 bits can be transposed}}
    %0 = top.transpose_rows %x : (tensor<2x9xf64>) -> tensor<9x2xf64>
    return %0 : tensor<9x2xf64>
  }
}

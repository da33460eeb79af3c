// RUN: pto-opt %s --build-attention-kernels --split-input-file --verify-diagnostics
// RUN: not pto-opt %s --build-attention-kernels=num-cores=-1 --split-input-file 2>&1 | FileCheck %s
// CHECK: num-cores must not be negative, got -1

module attributes {pto.target_arch = "a3"} {
  func.func private @wide(%q: tensor<1x1x8x4096xf16>, %o: tensor<1x1x8x4096xf16>) -> tensor<1x1x8x4096xf16> attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    // expected-error @+1 {{has no kernel: no tiling fits the memories of a3; convert-top-to-linalg decomposes it}}
    %0 = top.attention %q, %q, %q {scale = 1.0, q_heads = 1, kv_heads = 1}
        : (tensor<1x1x8x4096xf16>, tensor<1x1x8x4096xf16>, tensor<1x1x8x4096xf16>) -> tensor<1x1x8x4096xf16>
    return %0 : tensor<1x1x8x4096xf16>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func private @exact(%q: tensor<1x1x8x64xf64>, %o: tensor<1x1x8x64xf64>) -> tensor<1x1x8x64xf64> attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    // expected-error @+1 {{has no kernel: elements are neither f32, f16 nor bf16}}
    %0 = top.attention %q, %q, %q {scale = 1.0, q_heads = 1, kv_heads = 1}
        : (tensor<1x1x8x64xf64>, tensor<1x1x8x64xf64>, tensor<1x1x8x64xf64>) -> tensor<1x1x8x64xf64>
    return %0 : tensor<1x1x8x64xf64>
  }
}

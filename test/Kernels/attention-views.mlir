// RUN: pto-opt %s --form-kernels | FileCheck %s
// RUN: pto-opt %s --form-kernels --build-attention-kernels=num-cores=2 --canonicalize --cse | FileCheck %s --check-prefix=BUILT

// Queries, keys and values are thirds of the rows of one projection: the kernel reads them there, and nothing moves.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: tensor.empty() : tensor<1x50x64xf16>
// CHECK-NEXT: top.launch @k0_y ins(%arg0 : tensor<1x50x192xf16>)
// CHECK-NEXT: return
// CHECK: func.func private @k0_y
// CHECK-COUNT-3: tensor.extract_slice
// CHECK: top.attention

// Heads of 32 columns lie in rows of 192 elements; keys are read transposed.
// BUILT-LABEL: func.func private @k0_y(
// BUILT-DAG: pto.make_tensor_view %arg0, shape = [%c50, %c192], strides = [%c192, %c1]
// BUILT-DAG: pto.make_tensor_view %arg0, shape = [%c192, %c50], strides = [%c1, %c192] {layout = #pto.layout<dn>}
module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<1x50x192xf16>) -> tensor<1x50x64xf16> {
    %q = tensor.extract_slice %x[0, 0, 0] [1, 50, 64] [1, 1, 1] : tensor<1x50x192xf16> to tensor<1x50x64xf16>
    %k = tensor.extract_slice %x[0, 0, 64] [1, 50, 64] [1, 1, 1] : tensor<1x50x192xf16> to tensor<1x50x64xf16>
    %v = tensor.extract_slice %x[0, 0, 128] [1, 50, 64] [1, 1, 1] : tensor<1x50x192xf16> to tensor<1x50x64xf16>
    %0 = top.attention %q, %k, %v {scale = 1.0, q_heads = 2, kv_heads = 2, q_layout = "BSND", k_layout = "BSND", v_layout = "BSND", result_layout = "BSND"}
        : (tensor<1x50x64xf16>, tensor<1x50x64xf16>, tensor<1x50x64xf16>) -> tensor<1x50x64xf16> loc("y")
    return %0 : tensor<1x50x64xf16>
  }
}

// RUN: pto-opt %s --bufferize-vector-kernels --verify-diagnostics

// expected-error @below {{result 0 is not computed in its output argument}}
func.func private @wrong_place(%x: tensor<16xf32>, %out: tensor<16xf32>) -> tensor<16xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  return %x : tensor<16xf32>
}

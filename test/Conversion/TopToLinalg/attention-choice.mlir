// An attention is left to build-attention-kernels where its kernel is estimated to be no slower than separate ones.
// RUN: pto-opt %s --convert-top-to-linalg=attention-kernels=true | FileCheck %s
// RUN: pto-opt %s --convert-top-to-linalg=attention-kernels=true --debug-only=convert-top-to-linalg -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEBUG

// DEBUG: attention 'step' is decomposed: one kernel would take {{.*}} us, separate ones {{.*}} us
// DEBUG-NOT: attention 'encoder'
// DEBUG: attention 'asked' is decomposed: as asked for
module attributes {pto.target_arch = "a3"} {

// One unit on one block, which loads all keys by itself.
// CHECK-LABEL: func.func @step
// CHECK-NOT: = top.attention
func.func @step(%q: tensor<1x1x8x128xf16>, %k: tensor<1x1x4096x128xf16>) -> tensor<1x1x8x128xf16> {
  %0 = top.attention %q, %k, %k {scale = 1.0, q_heads = 1, kv_heads = 1}
      : (tensor<1x1x8x128xf16>, tensor<1x1x4096x128xf16>, tensor<1x1x4096x128xf16>) -> tensor<1x1x8x128xf16> loc("step")
  return %0 : tensor<1x1x8x128xf16>
}

// CHECK-LABEL: func.func @encoder
// CHECK: top.attention
func.func @encoder(%q: tensor<1x12x128x32xf16>) -> tensor<1x12x128x32xf16> {
  %0 = top.attention %q, %q, %q {scale = 1.0, q_heads = 12, kv_heads = 12}
      : (tensor<1x12x128x32xf16>, tensor<1x12x128x32xf16>, tensor<1x12x128x32xf16>) -> tensor<1x12x128x32xf16> loc("encoder")
  return %0 : tensor<1x12x128x32xf16>
}

// What is not estimated keeps its kernel: how many keys there are is known at run time.
// CHECK-LABEL: func.func @lengths
// CHECK: top.attention
func.func @lengths(%q: tensor<1x1x8x128xf16>, %k: tensor<1x1x4096x128xf16>, %n: tensor<1xi32>) -> tensor<1x1x8x128xf16> {
  %0 = top.attention %q, %k, %k lengths %n {scale = 1.0, q_heads = 1, kv_heads = 1}
      : (tensor<1x1x8x128xf16>, tensor<1x1x4096x128xf16>, tensor<1x1x4096x128xf16>, tensor<1xi32>) -> tensor<1x1x8x128xf16> loc("lengths")
  return %0 : tensor<1x1x8x128xf16>
}

// CHECK-LABEL: func.func @asked
// CHECK-NOT: = top.attention
func.func @asked(%q: tensor<1x12x128x32xf16>) -> tensor<1x12x128x32xf16> attributes {top.attentions = "apart"} {
  %0 = top.attention %q, %q, %q {scale = 1.0, q_heads = 12, kv_heads = 12}
      : (tensor<1x12x128x32xf16>, tensor<1x12x128x32xf16>, tensor<1x12x128x32xf16>) -> tensor<1x12x128x32xf16> loc("asked")
  return %0 : tensor<1x12x128x32xf16>
}
}

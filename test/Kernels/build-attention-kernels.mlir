// RUN: pto-opt %s --form-kernels --build-attention-kernels=num-cores=24 --canonicalize --cse | FileCheck %s
// RUN: pto-opt %s --form-kernels | FileCheck %s --check-prefix=FORMED

module attributes {pto.target_arch = "a3"} {
  // The rings of 24 blocks with 4 slots of 128 rows are outputs that nobody reads.
  // CHECK-LABEL: func.func @main
  // CHECK-DAG: %[[S:.*]] = tensor.empty() : tensor<12288x256xf32>
  // CHECK-DAG: %[[W:.*]] = tensor.empty() : tensor<12288x256xf16>
  // Behind the sums of V are those of the weights.
  // CHECK-DAG: %[[T:.*]] = tensor.empty() : tensor<12288x72xf32>
  // CHECK: %[[L:.*]]:4 = top.launch @k0_y ins({{.*}}) outs(%[[S]], %[[W]], %[[T]], {{.*}}) {absorbed = [], layouts = ["", "", "", ""], names = ["", "", "", "y"]}
  // CHECK: return %[[L]]#3

  // CHECK-LABEL: func.func private @k0_y(
  // CHECK-SAME: kernel_kind<cube>, pto.part_of = "k0_y"
  // Twelve heads of two batches, four units each, and a round more for what is behind.
  // The cube core multiplies weights with ones, which stay in L0B.
  // CHECK: pto.texpands
  // CHECK: pto.textract {{.*}} outs({{.*}} : !pto.tile_buf<right, 64x16xf16
  // CHECK: scf.for %{{.*}} = %{{.*}} to %c120 step %c24
  // The first scores of a unit beside the last sums of the one before: each where there is one.
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: pto.sync.set <PIPE_FIX>, 0
  // CHECK: scf.if
  // CHECK: pto.sync.wait <PIPE_MTE2>, 1
  // CHECK: pto.sync.set <PIPE_FIX>, 2
  // Then both for each tile. V is loaded before the wait for the weights.
  // CHECK: scf.for
  // CHECK-NOT: scf.if
  // CHECK: pto.tmatmul ins
  // CHECK: pto.sync.set <PIPE_FIX>, 0
  // CHECK: pto.tload
  // CHECK: pto.sync.wait <PIPE_MTE2>, 1
  // CHECK: pto.tload
  // CHECK: pto.tmatmul ins
  // CHECK: pto.tmatmul.acc
  // CHECK: pto.sync.set <PIPE_FIX>, 2

  // CHECK-LABEL: func.func private @k0_y.vector(
  // CHECK-SAME: kernel_kind<vector>, pto.part_of = "k0_y"
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: pto.trowexpanddiv
  // CHECK: scf.for
  // CHECK: pto.sync.wait <PIPE_MTE2>, 0
  // Both halves' maxima are one instruction's.
  // CHECK: pto.trowmax
  // CHECK: pto.trowmax
  // CHECK: pto.tmax ins({{.*}} : !pto.tile_buf<vec, 2x32xf32>
  // CHECK-NOT: pto.trowsum
  // CHECK: pto.sync.set <PIPE_MTE3>, 1
  // CHECK: pto.sync.wait <PIPE_MTE2>, 2
  // CHECK: pto.trowexpandmul

  // FORMED: top.launch @k0_y ins(%arg0, %arg1, %arg2 :
  // FORMED: func.func private @k0_y({{.*}}kernel_kind<cube>
  // FORMED-NEXT: %[[R:.*]] = top.attention
  // FORMED-NEXT: return %[[R]]
  func.func @main(%q: tensor<2x12x512x64xf16>, %k: tensor<2x4x2048x64xf16>, %v: tensor<2x4x2048x64xf16>) -> tensor<2x12x512x64xf16> {
    %0 = top.attention %q, %k, %v {scale = 0.125, q_heads = 12, kv_heads = 4}
        : (tensor<2x12x512x64xf16>, tensor<2x4x2048x64xf16>, tensor<2x4x2048x64xf16>) -> tensor<2x12x512x64xf16> loc("y")
    return %0 : tensor<2x12x512x64xf16>
  }
}

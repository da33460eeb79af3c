// RUN: pto-opt %s --form-kernels --assign-sizes --build-attention-kernels=num-cores=4 --canonicalize --cse | FileCheck %s

module attributes {pto.target_arch = "a3"} {
  // CHECK: #[[SCALAR:.*]] = affine_map<()[s0] -> (s0)>
  // CHECK: top.launch @k0_y_sized {{.*}}scalars = #[[SCALAR]]
  func.func @main(%q: tensor<8x3x16x16xf16> {top.sizes = affine_map<()[s0] -> (s0, 3, 16, 16)>},
                  %k: tensor<8x3x16x16xf16> {top.sizes = affine_map<()[s0] -> (s0, 3, 16, 16)>})
      -> (tensor<8x3x16x16xf16> {top.sizes = affine_map<()[s0] -> (s0, 3, 16, 16)>})
      attributes {top.symbols = [{name = "batch", least = 1, greatest = 8, multiple = 1}]} {
    %0 = top.attention %q, %k, %k {scale = 1.0, q_heads = 3, kv_heads = 3}
        : (tensor<8x3x16x16xf16>, tensor<8x3x16x16xf16>, tensor<8x3x16x16xf16>) -> tensor<8x3x16x16xf16> loc("y")
    return %0 : tensor<8x3x16x16xf16>
  }

  // Three heads of each batch, one unit each, and a round more for what is behind. Both kinds of core take the size.
  // CHECK: func.func private @k0_y_sized(%{{.*}}, %[[SIZE:[^:]*]]: i64)
  // CHECK: %[[BATCH:.*]] = arith.index_cast %[[SIZE]] : i64 to index
  // CHECK: %[[HEADS:.*]] = arith.muli %[[BATCH]], %c3
  // CHECK: %[[END:.*]] = arith.addi %[[HEADS]], %c4
  // CHECK: scf.for %{{.*}} to %[[END]] step %c4
  // CHECK: pto.tmatmul
  // CHECK: func.func private @k0_y_sized.vector({{.*}}: i64)
  // CHECK: pto.trowmax
}

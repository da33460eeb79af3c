// RUN: pto-opt %s --form-kernels --assign-sizes --build-attention-kernels=num-cores=4 --canonicalize --cse --split-input-file | FileCheck %s

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

// -----

// Batch, rows and keys: three scalars. Rows of a batch follow each other as far as there are, and so do the masks.
module attributes {pto.target_arch = "a3"} {
  // CHECK: #[[ALL:.*]] = affine_map<()[s0, s1, s2] -> (s0, s1, s2)>
  // CHECK: top.launch @k0_y_sized {{.*}}scalars = #[[ALL]]
  func.func @main(%q: tensor<4x40x48xf16> {top.sizes = affine_map<()[s0, s1, s2] -> (s0, s1, 48)>},
                  %k: tensor<4x90x48xf16> {top.sizes = affine_map<()[s0, s1, s2] -> (s0, s2, 48)>},
                  %m: tensor<4x1x1x90xf16> {top.sizes = affine_map<()[s0, s1, s2] -> (s0, 1, 1, s2)>})
      -> (tensor<4x40x48xf16> {top.sizes = affine_map<()[s0, s1, s2] -> (s0, s1, 48)>})
      attributes {top.symbols = [{name = "batch", least = 1, greatest = 4, multiple = 1},
                                 {name = "rows", least = 1, greatest = 40, multiple = 1},
                                 {name = "keys", least = 1, greatest = 90, multiple = 1}]} {
    %0 = top.attention %q, %k, %k bias %m {scale = 1.0, q_heads = 3, kv_heads = 3, q_layout = "BSND",
        k_layout = "BSND", v_layout = "BSND", result_layout = "BSND"}
        : (tensor<4x40x48xf16>, tensor<4x90x48xf16>, tensor<4x90x48xf16>, tensor<4x1x1x90xf16>) -> tensor<4x40x48xf16>
        loc("y")
    return %0 : tensor<4x40x48xf16>
  }

  // CHECK: func.func private @k0_y_sized({{.*}}, %[[B:[^:]*]]: i64, %[[R:[^:]*]]: i64, %[[K:[^:]*]]: i64)
  // CHECK-DAG: %[[BATCH:.*]] = arith.index_cast %[[B]] : i64 to index
  // CHECK-DAG: %[[ROWS:.*]] = arith.index_cast %[[R]] : i64 to index
  // CHECK-DAG: %[[KEYS:.*]] = arith.index_cast %[[K]] : i64 to index
  // CHECK: arith.muli %[[BATCH]], %c3
  // CHECK: arith.muli %{{.*}}, %[[ROWS]]
  // CHECK: arith.muli %{{.*}}, %[[KEYS]]
  // CHECK: func.func private @k0_y_sized.vector({{.*}}: i64, {{.*}}: i64, {{.*}}: i64)
}

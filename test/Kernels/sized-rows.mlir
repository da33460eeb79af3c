// RUN: pto-opt %s --split-input-file --form-kernels --assign-sizes --build-template-kernels=num-cores=4 --canonicalize \
// RUN: | FileCheck %s

module attributes {pto.target_arch = "a3"} {
  // Batch and length: each a scalar. A table once for each batch, a row of each batch, sums over the rows of each.
  // CHECK-LABEL: func.func private @k0_t_sized({{.*}}: i64, {{.*}}: i64)
  // CHECK: pto.tload
  // CHECK: pto.tstore
  // CHECK-LABEL: func.func private @k1_f_sized({{.*}}: i64, {{.*}}: i64)
  // CHECK: pto.tload
  // CHECK: pto.tstore
  // CHECK-LABEL: func.func private @k2_m_sized({{.*}}: i64, {{.*}}: i64)
  // CHECK: scf.for
  // The tile's rows, and zeros behind them, by halves.
  // CHECK: pto.tfillpad
  // CHECK: pto.subview {{.*}} sizes [32, 48]
  // CHECK: pto.tadd
  // CHECK: pto.subview {{.*}} sizes [16, 48]
  // CHECK: pto.tadd
  // CHECK: pto.texpands
  // CHECK: pto.tdiv
  // CHECK: pto.tstore
  func.func @main(%x: tensor<4x70x40xf32> {top.sizes = affine_map<()[s0, s1] -> (s0, s1, 40)>},
                  %p: tensor<70x40xf32> {top.sizes = affine_map<()[s0, s1] -> (s1, 40)>})
      -> (tensor<4x70x40xf32> {top.sizes = affine_map<()[s0, s1] -> (s0, s1, 40)>},
          tensor<4x2x40xf32> {top.sizes = affine_map<()[s0, s1] -> (s0, 2, 40)>},
          tensor<4x40xf32> {top.sizes = affine_map<()[s0, s1] -> (s0, 40)>})
      attributes {top.symbols = [{name = "batch", least = 1, greatest = 4, multiple = 1},
                                 {name = "length", least = 2, greatest = 70, multiple = 1}]} {
    %t = top.repeat_rows %p, %x : (tensor<70x40xf32>, tensor<4x70x40xf32>) -> tensor<4x70x40xf32> loc("t")
    %f = top.take_rows %x {first = 0, count = 2} : (tensor<4x70x40xf32>) -> tensor<4x2x40xf32> loc("f")
    %m = top.reduce_rows %x {kind = "mean"} : (tensor<4x70x40xf32>) -> tensor<4x40xf32> loc("m")
    return %t, %f, %m : tensor<4x70x40xf32>, tensor<4x2x40xf32>, tensor<4x40xf32>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  // Many rows of few columns in parts, each a piece of its own: where it begins and how many rows it has.
  // CHECK-LABEL: func.func private @k0_p_sized({{.*}}: i64)
  // CHECK: %[[EACH:.*]] = arith.floordivsi
  // CHECK: scf.for
  // CHECK: %[[PART:.*]] = arith.remsi
  // CHECK: %[[BEGIN:.*]] = arith.muli %[[PART]], %[[EACH]]
  // CHECK: arith.maxsi
  // CHECK: pto.tfillpad
  // CHECK: pto.tadd
  // The rows of a matrix become its columns.
  // CHECK-LABEL: func.func private @k1_t_sized({{.*}}: i64)
  // CHECK: pto.make_tensor_view
  // CHECK: pto.ttrans
  // CHECK: pto.tstore
  func.func @main(%x: tensor<1x7000x40xf16> {top.sizes = affine_map<()[s0] -> (1, s0, 40)>},
                  %m: tensor<3x7000xf16> {top.sizes = affine_map<()[s0] -> (3, s0)>})
      -> (tensor<1x8x40xf32>, tensor<7000x3xf16> {top.sizes = affine_map<()[s0] -> (s0, 3)>})
      attributes {top.symbols = [{name = "pixels", least = 1, greatest = 7000, multiple = 1}]} {
    %p = top.reduce_rows %x {kind = "mean", parts = 8} : (tensor<1x7000x40xf16>) -> tensor<1x8x40xf32> loc("p")
    %t = top.transpose_rows %m : (tensor<3x7000xf16>) -> tensor<7000x3xf16> loc("t")
    return %p, %t : tensor<1x8x40xf32>, tensor<7000x3xf16>
  }
}

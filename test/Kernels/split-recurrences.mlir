// RUN: pto-opt %s --form-kernels --split-recurrences=num-cores=1 --split-input-file | FileCheck %s
// RUN: pto-opt %s --form-kernels --split-recurrences=num-cores=1 --tile-vector-kernels --bufferize-vector-kernels \
// RUN:     --convert-linalg-to-pto --build-recurrent-kernels=num-cores=1 --split-input-file | FileCheck %s --check-prefix=BUILT
// RUN: not pto-opt %s --form-kernels --split-recurrences=num-cores=-1 --split-input-file 2>&1 | FileCheck %s --check-prefix=CORES
// CORES: num-cores must not be negative, got -1

// Units of 35 rows and a last one of 35; the initial states, then the only stage.
// CHECK: func.func private @k0_y(
// CHECK-SAME: kernel_kind<cube>, pto.recurrence = {panels = [@k0_y.panel, @k0_y.panel_0, @k0_y.panel_1], rows = array<i64: 35>}
// CHECK: func.func private @k0_y.panel_1(
// CHECK-SAME: tensor<35x8xf32>, %{{.*}}: tensor<35x8xf16>
// CHECK-SAME: kernel_kind<vector>, pto.panel, pto.pitches = array<i64: 32, 64, 32, 64, 32, 64, 32, 64, 8, 8, 8>
// CHECK: math.tanh

// The products and what the kernel hands on are outputs that nobody reads.
// BUILT: top.launch @k0_y ins({{.*}}) outs({{.*}}) {{.*}} -> tensor<140x32xf32>, tensor<8x16xf32>, tensor<7x2x70x8xf16>
// Weights stay in L0B; each step waits for the state and says that the product is there.
// BUILT: func.func private @k0_y(
// BUILT: pto.textract
// BUILT: scf.for
// BUILT-NOT: pto.tile_buf<right
// BUILT: pto.sync.wait <PIPE_MTE2>, 1
// BUILT: pto.tmatmul
// BUILT: pto.sync.set <PIPE_FIX>, 0
// BUILT: func.func private @k0_y.vector(
// BUILT: pto.sync.set <PIPE_MTE3>, 1
// BUILT: scf.for
// BUILT: pto.sync.wait <PIPE_MTE2>, 0
// BUILT: pto.texp
// BUILT: pto.sync.set <PIPE_MTE3>, 1
module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<5x70x64xf16>, %w: tensor<2x32x8xf16>, %h: tensor<2x70x8xf16>, %c: tensor<2x70x8xf16>) -> tensor<7x2x70x8xf16> {
    %0 = top.recurrent %x, %w, %h cell %c {kind = "LSTM", direction = "bidirectional", activations = ["Sigmoid", "Tanh", "Tanh"],
        alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>}
        : (tensor<5x70x64xf16>, tensor<2x32x8xf16>, tensor<2x70x8xf16>, tensor<2x70x8xf16>) -> tensor<7x2x70x8xf16> loc("y")
    return %0 : tensor<7x2x70x8xf16>
  }
}

// -----

// A GRU that resets early has two stages; the first hands on what updates and r h.
// CHECK: panels = [@k0_y.panel, @k0_y.panel_0, @k0_y.panel_1]
// BUILT: outs({{.*}}) {{.*}} -> tensor<3x16xf32>, tensor<2x16xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<6x1x3x8xf32>
module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<5x3x24xf32>, %w: tensor<1x24x8xf32>, %h: tensor<1x3x8xf32>) -> tensor<6x1x3x8xf32> {
    %0 = top.recurrent %x, %w, %h {kind = "GRU", direction = "forward", activations = ["Sigmoid", "Tanh"],
        alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>}
        : (tensor<5x3x24xf32>, tensor<1x24x8xf32>, tensor<1x3x8xf32>) -> tensor<6x1x3x8xf32> loc("y")
    return %0 : tensor<6x1x3x8xf32>
  }
}

// RUN: pto-opt %s --convert-top-to-linalg --form-kernels --build-template-kernels=num-cores=24 --canonicalize --cse --split-input-file | FileCheck %s

module attributes {pto.target_arch = "a3"} {
  // Values and places of one operand are results of one kernel.
  // CHECK-LABEL: func.func @main
  // CHECK: top.launch @k0_k ins({{.*}} : tensor<480x100xf32>) outs({{.*}} : tensor<480x3xf32>, tensor<480x3xi32>)
  // CHECK-NOT: top.launch
  // CHECK-LABEL: func.func private @k0_k(%{{.*}}: !pto.ptr<f32>, %{{.*}}: !pto.ptr<f32>, %{{.*}}: !pto.ptr<i32>)
  // Ten rows of a run of 128 at a time, shared among 48 vector cores, merged as one row.
  // CHECK: scf.for
  // CHECK: pto.texpands
  // CHECK: pto.tload
  // CHECK: pto.tsort32
  // CHECK: pto.tmrgsort ins({{.*}} : !pto.tile_buf<vec, 1x2560xf32>, i32)
  // CHECK-NOT: pto.tmrgsort
  // CHECK: pto.tgather ins({{.*}}P0101
  // CHECK: pto.tgather ins({{.*}}P1010
  func.func @main(%x: tensor<480x100xf32>) -> (tensor<480x3xf32>, tensor<480x3xi32>) {
    %v = top.topk_values %x {k = 3} : (tensor<480x100xf32>) -> tensor<480x3xf32> loc("v")
    %k = top.topk_indices %x {k = 3} : (tensor<480x100xf32>) -> tensor<480x3xi32> loc("k")
    return %v, %k : tensor<480x3xf32>, tensor<480x3xi32>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  // A long row goes through in pieces of 2048; the first two give 3000 records, the others are merged in a loop.
  // CHECK-LABEL: func.func private @k0_v
  // CHECK: scf.for
  // CHECK: pto.tsort32
  // CHECK: pto.tmov ins({{.*}} : !pto.tile_buf<vec, 1x4096xf32>) outs({{.*}} : !pto.tile_buf<vec, 1x4096xf32>)
  // CHECK: pto.tsort32
  // CHECK: pto.tmrgsort ins({{.*}}exhausted = false
  // CHECK: scf.for
  // CHECK: pto.tsort32
  // CHECK: pto.tmrgsort ins({{.*}}exhausted = false
  func.func @main(%x: tensor<2x10000xf32>) -> tensor<2x3000xf32> {
    %v = top.topk_values %x {k = 3000, largest = false} : (tensor<2x10000xf32>) -> tensor<2x3000xf32> loc("v")
    return %v : tensor<2x3000xf32>
  }
}

// -----

module attributes {pto.target_arch = "a3"} {
  // Each row of indices selects from its row of the data in UB.
  // CHECK-LABEL: func.func private @k0_g
  // CHECK: pto.tload
  // CHECK: scf.for
  // CHECK: pto.tgather ins
  // CHECK: pto.tstore
  // Updates in their order, those of this core's rows.
  // CHECK-LABEL: func.func private @k1_s
  // CHECK: pto.load_scalar
  // CHECK: scf.if
  // CHECK: pto.tadd ins
  // CHECK: pto.tstore
  func.func @main(%x: tensor<500x100xf32>, %i: tensor<500x7xi32>, %p: tensor<6xi32>, %u: tensor<6x7xf32>) -> tensor<500x7xf32> {
    %g = top.gather_elements %x, %i : (tensor<500x100xf32>, tensor<500x7xi32>) -> tensor<500x7xf32> loc("g")
    %s = top.scatter %g, %p, %u {reduction = "add"} : (tensor<500x7xf32>, tensor<6xi32>, tensor<6x7xf32>) -> tensor<500x7xf32> loc("s")
    return %s : tensor<500x7xf32>
  }
}

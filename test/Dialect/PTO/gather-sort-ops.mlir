// Every form of these ops parses, verifies and round-trips.
// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s
// RUN: pto-opt %s -mlir-print-op-generic | pto-opt | FileCheck %s

!G = !pto.partition_tensor_view<32x32xf32>
!I = !pto.tile_buf<vec, 32x32xi32>
!O = !pto.tile_buf<vec, 32x64xf32>
!R = !pto.tile_buf<vec, 1x256xf32>
!Q = !pto.tile_buf<vec, 1x128xf32>
!V = !pto.tile_buf<vec, 32x32xf32>
!W = !pto.tile_buf<vec, 32x32xui32>

module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @gather
  func.func @gather(%v: !V, %v1: !V, %i: !I, %i1: !I, %w: !W, %e: f32, %g: !G) {
    // CHECK: pto.tgather ins(%arg0, %arg2, %arg3 : !pto.tile_buf<vec, 32x32xf32>, !pto.tile_buf<vec, 32x32xi32>, !pto.tile_buf<vec, 32x32xi32>) outs(%arg1 : !pto.tile_buf<vec, 32x32xf32>)
    pto.tgather ins(%v, %i, %i1 : !V, !I, !I) outs(%v1 : !V)
    // CHECK: pto.tgather ins(%arg0, %arg5, %arg1 : {{.*}}, f32, {{.*}}) outs(%arg2, %arg3 : {{.*}}) {cmpMode = #pto<cmp gt>, offset = 7 : i32}
    pto.tgather ins(%v, %e, %v1 : !V, f32, !V) outs(%i, %i1 : !I, !I) {cmpMode = #pto<cmp gt>, offset = 7 : i32}
    // CHECK: pto.tgather ins(%arg0, {maskPattern = #pto.mask_pattern<P0101>} : !pto.tile_buf<vec, 32x32xf32>) outs(%arg1
    pto.tgather ins(%v, {maskPattern = #pto.mask_pattern<P0101>} : !V) outs(%v1 : !V)
    // CHECK: pto.tgatherb ins(%arg0, %arg4 :
    pto.tgatherb ins(%v, %w : !V, !W) outs(%v1 : !V)
    // CHECK: pto.tscatter ins(%arg0, %arg2 :
    pto.tscatter ins(%v, %i : !V, !I) outs(%v1 : !V)
    // CHECK: pto.mgather ins(%arg6, %arg2 : !pto.partition_tensor_view<32x32xf32>, {{.*}}) outs({{.*}}) {gatherOob = #pto<gather_oob clamp>}
    pto.mgather ins(%g, %i : !G, !I) outs(%v : !V) {gatherOob = #pto<gather_oob clamp>}
    // CHECK: pto.mscatter ins({{.*}}) outs(%arg6 : !pto.partition_tensor_view<32x32xf32>) {scatterAtomicOp = #pto<scatter_atomic_op add>, scatterOob = #pto<scatter_oob skip>}
    pto.mscatter ins(%v, %i : !V, !I) outs(%g : !G) {scatterAtomicOp = #pto<scatter_atomic_op add>, scatterOob = #pto<scatter_oob skip>}
    return
  }

  // CHECK-LABEL: func.func @sort
  func.func @sort(%v: !V, %v1: !V, %w: !W, %o: !O, %r: !R, %r1: !R, %q: !Q, %q1: !Q, %ex: vector<4xi16>) {
    %n = arith.constant 64 : i32
    // CHECK: pto.tsort32 ins(%arg0, %arg2 : !pto.tile_buf<vec, 32x32xf32>, !pto.tile_buf<vec, 32x32xui32>) outs(%arg3 :
    pto.tsort32 ins(%v, %w : !V, !W) outs(%o : !O)
    // CHECK: pto.tsort32 ins(%arg0, %arg2, %arg1 :
    pto.tsort32 ins(%v, %w, %v1 : !V, !W, !V) outs(%o : !O)
    // CHECK: pto.tmrgsort ins(%arg4, %c64_i32 : !pto.tile_buf<vec, 1x256xf32>, i32) outs(%arg5 :
    pto.tmrgsort ins(%r, %n : !R, i32) outs(%r1 : !R)
    // CHECK: pto.tmrgsort ins(%arg6, %arg7, %arg4 {exhausted = true} : {{.*}}) outs(%arg5, %arg8 : !pto.tile_buf<vec, 1x256xf32>, vector<4xi16>)
    pto.tmrgsort ins(%q, %q1, %r {exhausted = true} : !Q, !Q, !R) outs(%r1, %ex : !R, vector<4xi16>)
    return
  }

  // CHECK-LABEL: func.func @generated
  func.func @generated(%v: !V, %w: !W, %n: i32, %src: !pto.tile_buf<vec, 32x32xui16>, %idx: !pto.tile_buf<vec, 32x1xui8, blayout=col_major>,
                       %dst: !pto.tile_buf<vec, 32x256xui32>) {
    // CHECK: pto.thistogram ins({{.*}}) outs(%arg5 : !pto.tile_buf<vec, 32x256xui32>) {isMSB = false}
    pto.thistogram ins(%src, %idx : !pto.tile_buf<vec, 32x32xui16>, !pto.tile_buf<vec, 32x1xui8, blayout=col_major>) outs(%dst : !pto.tile_buf<vec, 32x256xui32>) {isMSB = false}
    // CHECK: pto.ttri ins(%arg2 {upperOrLower = 1 : i32} : i32) outs(%arg0 :
    pto.ttri ins(%n {upperOrLower = 1 : i32} : i32) outs(%v : !V)
    // CHECK: pto.trandom ins(%arg2, %arg2, %arg2, %arg2, %arg2, %arg2 {rounds = 7 : i32} : i32, i32, i32, i32, i32, i32) outs(%arg1 :
    pto.trandom ins(%n, %n, %n, %n, %n, %n {rounds = 7 : i32} : i32, i32, i32, i32, i32, i32) outs(%w : !W)
    return
  }
}

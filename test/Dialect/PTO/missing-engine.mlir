// RUN: pto-opt %s -pto-plan-local-memory -pto-insert-sync | FileCheck %s
// RUN: pto-opt %s -pto-lower-events -pto-plan-local-memory -pto-insert-sync -pto-slice-engines -pto-check-sync | FileCheck %s --check-prefix=SLICED

// t7 (test/isa/TestArchs.td) has no MTE3: MTE2 stores. So a load needs no flag from the store of the trip before, and the stores
// stand in the loads' stream, in the order of the kernel.

!T = !pto.tile_buf<vec, 8x8xf32>
!G = !pto.partition_tensor_view<8x8xf32>

// SLICED-NOT: PIPE_MTE3
// SLICED-LABEL: module @k
// SLICED: func.func @mte2
// SLICED: pto.tload
// SLICED: pto.set_flag[<PIPE_MTE2>, <PIPE_V>
// SLICED: pto.wait_flag[<PIPE_V>, <PIPE_MTE2>
// SLICED: pto.tstore
// SLICED-NOT: PIPE_MTE3
// SLICED-NOT: func.func @mte3

module attributes {pto.target_arch = "t7"} {
// CHECK-LABEL: func.func @k
func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %pv = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %qv = pto.make_tensor_view %q, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %g = pto.partition_view %pv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %o = pto.partition_view %qv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %a = pto.alloc_tile : !T
  %b = pto.alloc_tile : !T
  // CHECK-NOT: PIPE_MTE3
  // CHECK: scf.for
  scf.for %i = %c0 to %c4 step %c1 {
    // CHECK: pto.tload
    // CHECK: pto.set_flag[<PIPE_MTE2>, <PIPE_V>
    // CHECK: pto.tabs
    // CHECK: pto.set_flag[<PIPE_V>, <PIPE_MTE2>
    // CHECK: pto.tstore
    pto.tload ins(%g : !G) outs(%a : !T)
    pto.tabs ins(%a : !T) outs(%b : !T)
    pto.tstore ins(%b : !T) outs(%o : !G)
  }
  // CHECK-NOT: PIPE_MTE3
  return
}
}

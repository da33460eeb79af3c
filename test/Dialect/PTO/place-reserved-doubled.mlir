// RUN: pto-opt %s -pto-multi-buffer -pto-plan-local-memory -pto-place-reserved | FileCheck %s

// A buffer lies behind both halves of a tile whose address changes with the turn.
!G = !pto.partition_tensor_view<64x64xf32>
!T = !pto.tile_buf<vec, 64x64xf32>
// CHECK-LABEL: func.func @behind_both
func.func @behind_both(%g: !G, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: auto = false, base = 32768}
  %r = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: pto.alloc_tile addr = %{{.*}} {pto.base = 0 : i64, pto.buffers = 2 : i32}
    %t = pto.alloc_tile : !T
    pto.tload ins(%g : !G) outs(%t : !T)
    pto.tstore ins(%t : !T) outs(%g : !G)
  }
  return
}

// RUN: pto-opt %s -split-input-file -pto-plan-local-memory -pto-insert-sync | FileCheck %s
// RUN: pto-opt %s -split-input-file -pto-plan-local-memory -pto-insert-sync -pto-slice-engines -pto-check-sync > %t

!T = !pto.tile_buf<vec, 8x8xf32>
!G = !pto.partition_tensor_view<8x8xf32>

// Straight line: V's wait for the second load covers the first load as well, which needs no flag.
// CHECK-LABEL: func.func @line
func.func @line(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %pv = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %qv = pto.make_tensor_view %q, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %g = pto.partition_view %pv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %o = pto.partition_view %qv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %a = pto.alloc_tile : !T
  %b = pto.alloc_tile : !T
  // CHECK: pto.tload
  // CHECK-NEXT: pto.tload
  // CHECK-NEXT: pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // CHECK-NEXT: pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // CHECK-NEXT: pto.tadd
  // CHECK-NEXT: pto.tabs
  // CHECK-NEXT: pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  // CHECK-NEXT: pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  // CHECK-NEXT: pto.tstore
  // CHECK-NEXT: return
  pto.tload ins(%g : !G) outs(%a : !T)
  pto.tload ins(%g : !G) outs(%b : !T)
  pto.tadd ins(%a, %b : !T, !T) outs(%a : !T)
  pto.tabs ins(%a : !T) outs(%a : !T)
  pto.tstore ins(%a : !T) outs(%o : !G)
  return
}

// -----

!T = !pto.tile_buf<vec, 8x8xf32>
!G = !pto.partition_tensor_view<8x8xf32>

// One tile in a nest of loops: the reverse flags are set once, outside both loops; a branch has its flags inside.
// CHECK-LABEL: func.func @nest
func.func @nest(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %pv = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %qv = pto.make_tensor_view %q, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %g = pto.partition_view %pv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %o = pto.partition_view %qv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %sum = pto.alloc_tile : !T
  // CHECK: pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK: scf.for
  // CHECK-NOT: pto.set_flag[<PIPE_V>, <PIPE_MTE2>
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK: pto.tload
  // CHECK: pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // CHECK: pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // CHECK: pto.tadd
  // CHECK: pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  // CHECK: }
  // CHECK: }
  // CHECK: pto.tstore
  // CHECK: }
  // CHECK: pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %even = arith.remsi %j, %c2 : index
      %take = arith.cmpi eq, %even, %c0 : index
      scf.if %take {
        %t = pto.alloc_tile : !T
        pto.tload ins(%g : !G) outs(%t : !T)
        pto.tadd ins(%sum, %t : !T, !T) outs(%sum : !T)
      }
    }
    pto.tstore ins(%sum : !T) outs(%o : !G)
  }
  return
}

// -----

!T = !pto.tile_buf<vec, 8x8xf32>
!G = !pto.partition_tensor_view<8x8xf32>

// Two branches that access one tile from two engines: both engines are synchronised before the branch.
// CHECK-LABEL: func.func @branches
func.func @branches(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %pv = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %g = pto.partition_view %pv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %t = pto.alloc_tile : !T
  scf.for %i = %c0 to %c3 step %c1 {
    %odd = arith.remsi %i, %c2 : index
    %take = arith.cmpi eq, %odd, %c0 : index
    // CHECK: pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID7>]
    // CHECK-NEXT: pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID7>]
    // CHECK-NEXT: pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID7>]
    // CHECK-NEXT: pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID7>]
    // CHECK-NEXT: scf.if
    scf.if %take {
      pto.tload ins(%g : !G) outs(%t : !T)
    } else {
      pto.texpands ins(%zero : f32) outs(%t : !T)
    }
  }
  return
}

// -----

!T = !pto.tile_buf<vec, 8x8xf32>
!G = !pto.partition_tensor_view<8x8xf32>

// The same with an op after them: the flags that it needs order the branches as well.
// CHECK-LABEL: func.func @branches_joined
// CHECK-NOT: EVENT_ID1
// CHECK-NOT: EVENT_ID7
// CHECK: return
func.func @branches_joined(%g: !G, %n: index, %take: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = pto.alloc_tile : !T
  scf.for %i = %c0 to %n step %c1 {
    scf.if %take {
      pto.tload ins(%g : !G) outs(%t : !T)
    } else {
      pto.texpands ins(%zero : f32) outs(%t : !T)
    }
    pto.trelu ins(%t : !T) outs(%t : !T)
  }
  return
}

// -----

!T = !pto.tile_buf<vec, 8x8xf32>
!G = !pto.partition_tensor_view<8x8xf32>

// Taps in two halves are loaded before a row in one buffer. The flag for the row of the next trip comes too late for the taps if the
// inner loop ends on the half on which it begins again; with an even trip count it also orders the taps.
// CHECK-LABEL: func.func @taps_odd
// CHECK: wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>
// CHECK-NEXT: tload
// CHECK-NEXT: wait_flag[<PIPE_V>, <PIPE_MTE2>
// CHECK-NEXT: tload
// CHECK: tmul
// CHECK-NEXT: set_flag_dyn[<PIPE_V>, <PIPE_MTE2>
// CHECK-NEXT: set_flag[<PIPE_V>, <PIPE_MTE2>
func.func @taps_odd(%g: !G, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %row = pto.alloc_tile : !T
  %sum = pto.alloc_tile : !T
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %c3 step %c1 {
      %taps = pto.alloc_tile {pto.buffers = 2 : i64} : !T
      pto.tload ins(%g : !G) outs(%taps : !T)
      pto.tload ins(%g : !G) outs(%row : !T)
      pto.tmul ins(%row, %taps : !T, !T) outs(%sum : !T)
    }
  }
  return
}

// CHECK-LABEL: func.func @taps_even
// CHECK-NOT: flag_dyn
// CHECK: return
func.func @taps_even(%g: !G, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %row = pto.alloc_tile : !T
  %sum = pto.alloc_tile : !T
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %c4 step %c1 {
      %taps = pto.alloc_tile {pto.buffers = 2 : i64} : !T
      pto.tload ins(%g : !G) outs(%taps : !T)
      pto.tload ins(%g : !G) outs(%row : !T)
      pto.tmul ins(%row, %taps : !T, !T) outs(%sum : !T)
    }
  }
  return
}

// -----

!T = !pto.tile_buf<vec, 8x8xf32>
!G = !pto.partition_tensor_view<8x8xf32>

// A flag set before a loop for its first trip and consumed after it also orders the ops around the loop.
// CHECK-LABEL: func.func @around
// CHECK: tabs
// CHECK-NEXT: set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
// CHECK-NEXT: scf.for
// CHECK-NEXT: wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
// CHECK-NEXT: tload
// CHECK-NEXT: set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
// CHECK-NEXT: wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
// CHECK-NEXT: tabs
// CHECK-NEXT: set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
// CHECK-NEXT: }
// CHECK-NEXT: wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
// CHECK-NEXT: tload
// CHECK-NEXT: return
func.func @around(%g: !G, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = pto.alloc_tile : !T
  pto.tabs ins(%t : !T) outs(%t : !T)
  scf.for %i = %c0 to %n step %c1 {
    pto.tload ins(%g : !G) outs(%t : !T)
    pto.tabs ins(%t : !T) outs(%t : !T)
  }
  pto.tload ins(%g : !G) outs(%t : !T)
  return
}

// -----

// A function with its own flags is left unchanged.
// CHECK-LABEL: func.func @by_hand
// CHECK-NEXT: pto.set_flag
// CHECK-NEXT: pto.wait_flag
// CHECK-NEXT: return
func.func @by_hand() {
  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  return
}

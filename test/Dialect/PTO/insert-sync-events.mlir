// More dependencies between two engines than event ids: some are replaced by mutual waits of both engines, and none stays unordered.
// RUN: pto-opt %s -pto-multi-buffer -pto-plan-local-memory -pto-insert-sync | FileCheck %s
// RUN: pto-opt %s -pto-multi-buffer -pto-plan-local-memory -pto-insert-sync -pto-slice-engines -pto-check-sync > %t
// RUN: pto-opt %s -pto-plan-local-memory -pto-insert-sync -pto-slice-engines -pto-check-sync > %t

!T = !pto.tile_buf<vec, 8x8xf32>
!G = !pto.partition_tensor_view<8x8xf32>

// CHECK-LABEL: func.func @line
// CHECK: EVENT_ID7
func.func @line(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %pv = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %qv = pto.make_tensor_view %q, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %g = pto.partition_view %pv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %o = pto.partition_view %qv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %t0 = pto.alloc_tile : !T
  %t1 = pto.alloc_tile : !T
  %t2 = pto.alloc_tile : !T
  %t3 = pto.alloc_tile : !T
  %t4 = pto.alloc_tile : !T
  %t5 = pto.alloc_tile : !T
  %t6 = pto.alloc_tile : !T
  %t7 = pto.alloc_tile : !T
  %t8 = pto.alloc_tile : !T
  %t9 = pto.alloc_tile : !T
  %t10 = pto.alloc_tile : !T
  %t11 = pto.alloc_tile : !T
  pto.tload ins(%g : !G) outs(%t0 : !T)
  pto.tabs ins(%t0 : !T) outs(%t0 : !T)
  pto.tload ins(%g : !G) outs(%t1 : !T)
  pto.tabs ins(%t1 : !T) outs(%t1 : !T)
  pto.tload ins(%g : !G) outs(%t2 : !T)
  pto.tabs ins(%t2 : !T) outs(%t2 : !T)
  pto.tload ins(%g : !G) outs(%t3 : !T)
  pto.tabs ins(%t3 : !T) outs(%t3 : !T)
  pto.tload ins(%g : !G) outs(%t4 : !T)
  pto.tabs ins(%t4 : !T) outs(%t4 : !T)
  pto.tload ins(%g : !G) outs(%t5 : !T)
  pto.tabs ins(%t5 : !T) outs(%t5 : !T)
  pto.tload ins(%g : !G) outs(%t6 : !T)
  pto.tabs ins(%t6 : !T) outs(%t6 : !T)
  pto.tload ins(%g : !G) outs(%t7 : !T)
  pto.tabs ins(%t7 : !T) outs(%t7 : !T)
  pto.tload ins(%g : !G) outs(%t8 : !T)
  pto.tabs ins(%t8 : !T) outs(%t8 : !T)
  pto.tload ins(%g : !G) outs(%t9 : !T)
  pto.tabs ins(%t9 : !T) outs(%t9 : !T)
  pto.tload ins(%g : !G) outs(%t10 : !T)
  pto.tabs ins(%t10 : !T) outs(%t10 : !T)
  pto.tload ins(%g : !G) outs(%t11 : !T)
  pto.tabs ins(%t11 : !T) outs(%t11 : !T)
  pto.tstore ins(%t11 : !T) outs(%o : !G)
  return
}

// CHECK-LABEL: func.func @loop
// CHECK: EVENT_ID7
func.func @loop(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %pv = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %qv = pto.make_tensor_view %q, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %g = pto.partition_view %pv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %o = pto.partition_view %qv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  scf.for %i = %c0 to %c5 step %c1 {
    %t0 = pto.alloc_tile : !T
    %t1 = pto.alloc_tile : !T
    %t2 = pto.alloc_tile : !T
    %t3 = pto.alloc_tile : !T
    %t4 = pto.alloc_tile : !T
    %t5 = pto.alloc_tile : !T
    %t6 = pto.alloc_tile : !T
    %t7 = pto.alloc_tile : !T
    %t8 = pto.alloc_tile : !T
    %t9 = pto.alloc_tile : !T
    %t10 = pto.alloc_tile : !T
    pto.tload ins(%g : !G) outs(%t0 : !T)
    pto.tabs ins(%t0 : !T) outs(%t0 : !T)
    pto.tload ins(%g : !G) outs(%t1 : !T)
    pto.tabs ins(%t1 : !T) outs(%t1 : !T)
    pto.tload ins(%g : !G) outs(%t2 : !T)
    pto.tabs ins(%t2 : !T) outs(%t2 : !T)
    pto.tload ins(%g : !G) outs(%t3 : !T)
    pto.tabs ins(%t3 : !T) outs(%t3 : !T)
    pto.tload ins(%g : !G) outs(%t4 : !T)
    pto.tabs ins(%t4 : !T) outs(%t4 : !T)
    pto.tload ins(%g : !G) outs(%t5 : !T)
    pto.tabs ins(%t5 : !T) outs(%t5 : !T)
    pto.tload ins(%g : !G) outs(%t6 : !T)
    pto.tabs ins(%t6 : !T) outs(%t6 : !T)
    pto.tload ins(%g : !G) outs(%t7 : !T)
    pto.tabs ins(%t7 : !T) outs(%t7 : !T)
    pto.tload ins(%g : !G) outs(%t8 : !T)
    pto.tabs ins(%t8 : !T) outs(%t8 : !T)
    pto.tload ins(%g : !G) outs(%t9 : !T)
    pto.tabs ins(%t9 : !T) outs(%t9 : !T)
    pto.tload ins(%g : !G) outs(%t10 : !T)
    pto.tabs ins(%t10 : !T) outs(%t10 : !T)
    pto.tstore ins(%t10 : !T) outs(%o : !G)
  }
  return
}

// CHECK-LABEL: func.func @two_loops
func.func @two_loops(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %pv = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %qv = pto.make_tensor_view %q, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %g = pto.partition_view %pv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %o = pto.partition_view %qv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  scf.for %i = %c0 to %c5 step %c1 {
    %t0 = pto.alloc_tile : !T
    %t1 = pto.alloc_tile : !T
    %t2 = pto.alloc_tile : !T
    pto.tload ins(%g : !G) outs(%t0 : !T)
    pto.tabs ins(%t0 : !T) outs(%t0 : !T)
    pto.tload ins(%g : !G) outs(%t1 : !T)
    pto.tabs ins(%t1 : !T) outs(%t1 : !T)
    pto.tload ins(%g : !G) outs(%t2 : !T)
    pto.tabs ins(%t2 : !T) outs(%t2 : !T)
    pto.tstore ins(%t2 : !T) outs(%o : !G)
  }
  scf.for %j = %c0 to %c5 step %c1 {
    %u0 = pto.alloc_tile : !T
    %u1 = pto.alloc_tile : !T
    %u2 = pto.alloc_tile : !T
    %u3 = pto.alloc_tile : !T
    pto.tload ins(%g : !G) outs(%u0 : !T)
    pto.tabs ins(%u0 : !T) outs(%u0 : !T)
    pto.tload ins(%g : !G) outs(%u1 : !T)
    pto.tabs ins(%u1 : !T) outs(%u1 : !T)
    pto.tload ins(%g : !G) outs(%u2 : !T)
    pto.tabs ins(%u2 : !T) outs(%u2 : !T)
    pto.tload ins(%g : !G) outs(%u3 : !T)
    pto.tabs ins(%u3 : !T) outs(%u3 : !T)
    pto.tstore ins(%u3 : !T) outs(%o : !G)
    scf.for %k = %c0 to %c5 step %c1 {
      pto.tload ins(%g : !G) outs(%u0 : !T)
      pto.tadd ins(%u0, %u1 : !T, !T) outs(%u2 : !T)
      pto.tstore ins(%u2 : !T) outs(%o : !G)
    }
  }
  return
}

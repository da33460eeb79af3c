// Orders in branches of which one is executed, and in loops one after the other, use the same events, where two engines
// need more than there are: no engine waits for the other without need (a meeting would).
// RUN: pto-opt %s -pto-multi-buffer -pto-plan-local-memory -pto-insert-sync | FileCheck %s
// RUN: pto-opt %s -pto-multi-buffer -pto-plan-local-memory -pto-insert-sync -pto-slice-engines -pto-check-sync > %t

!T = !pto.tile_buf<vec, 8x8xf32>
!G = !pto.partition_tensor_view<8x8xf32>

// Three tiles of two halves in each loop would take twelve events.
// CHECK-LABEL: func.func @loops
// CHECK-NOT: wait_flag[<PIPE_MTE2>, <PIPE_V>
// CHECK: return
func.func @loops(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %pv = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %qv = pto.make_tensor_view %q, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %g = pto.partition_view %pv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %o = pto.partition_view %qv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  scf.for %a = %c0 to %n step %c1 {
    %a0 = pto.alloc_tile : !T
    %a1 = pto.alloc_tile : !T
    %a2 = pto.alloc_tile : !T
    pto.tload ins(%g : !G) outs(%a0 : !T)
    pto.tabs ins(%a0 : !T) outs(%a0 : !T)
    pto.tload ins(%g : !G) outs(%a1 : !T)
    pto.tabs ins(%a1 : !T) outs(%a1 : !T)
    pto.tload ins(%g : !G) outs(%a2 : !T)
    pto.tabs ins(%a2 : !T) outs(%a2 : !T)
    pto.tstore ins(%a2 : !T) outs(%o : !G)
  }
  scf.for %b = %c0 to %n step %c1 {
    %b0 = pto.alloc_tile : !T
    %b1 = pto.alloc_tile : !T
    %b2 = pto.alloc_tile : !T
    pto.tload ins(%g : !G) outs(%b0 : !T)
    pto.tneg ins(%b0 : !T) outs(%b0 : !T)
    pto.tload ins(%g : !G) outs(%b1 : !T)
    pto.tneg ins(%b1 : !T) outs(%b1 : !T)
    pto.tload ins(%g : !G) outs(%b2 : !T)
    pto.tneg ins(%b2 : !T) outs(%b2 : !T)
    pto.tstore ins(%b2 : !T) outs(%o : !G)
  }
  return
}

// A branch waits for what either of them raised the last time: the flags that go back are raised once before the loop.
// CHECK-LABEL: func.func @branches
// CHECK-COUNT-4: set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID{{[0-3]}}>]
// CHECK-NOT: set_flag[<PIPE_V>, <PIPE_MTE2>
// CHECK: scf.if
// CHECK: wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>
// CHECK-NOT: set_flag[
// CHECK: } else {
// CHECK: wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>
// CHECK-NOT: set_flag[
// CHECK-COUNT-4: {{[^_]}}wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID{{[0-3]}}>]
// CHECK-NOT: {{[^_]}}wait_flag[<PIPE_V>, <PIPE_MTE2>
// CHECK: return
func.func @branches(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>, %n: index, %c: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %pv = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %qv = pto.make_tensor_view %q, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %g = pto.partition_view %pv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %o = pto.partition_view %qv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  scf.for %i = %c0 to %n step %c1 {
    scf.if %c {
      scf.for %a = %c0 to %n step %c1 {
        %a0 = pto.alloc_tile : !T
        %a1 = pto.alloc_tile : !T
        %a2 = pto.alloc_tile : !T
        pto.tload ins(%g : !G) outs(%a0 : !T)
        pto.tabs ins(%a0 : !T) outs(%a0 : !T)
        pto.tload ins(%g : !G) outs(%a1 : !T)
        pto.tabs ins(%a1 : !T) outs(%a1 : !T)
        pto.tload ins(%g : !G) outs(%a2 : !T)
        pto.tabs ins(%a2 : !T) outs(%a2 : !T)
        pto.tstore ins(%a2 : !T) outs(%o : !G)
      }
    } else {
      scf.for %b = %c0 to %n step %c1 {
        %b0 = pto.alloc_tile : !T
        %b1 = pto.alloc_tile : !T
        %b2 = pto.alloc_tile : !T
        pto.tload ins(%g : !G) outs(%b0 : !T)
        pto.tneg ins(%b0 : !T) outs(%b0 : !T)
        pto.tload ins(%g : !G) outs(%b1 : !T)
        pto.tneg ins(%b1 : !T) outs(%b1 : !T)
        pto.tload ins(%g : !G) outs(%b2 : !T)
        pto.tneg ins(%b2 : !T) outs(%b2 : !T)
        pto.tstore ins(%b2 : !T) outs(%o : !G)
      }
    }
  }
  return
}

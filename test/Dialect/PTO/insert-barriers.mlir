// RUN: pto-opt %s --pto-insert-barriers | FileCheck %s
!V = !pto.tile_buf<vec, 8x64xf32>

// Ops of one engine that touch the same bytes are ordered; those of two engines, and of S, are others' business.
// CHECK-LABEL: @line
// CHECK:      pto.tload
// CHECK-NEXT: pto.tabs ins(%[[A:.*]] : {{.*}}) outs(%[[B:.*]] :
// CHECK-NEXT: pto.tabs ins(%[[A]] : {{.*}}) outs(%[[C:.*]] :
// CHECK-NEXT: pto.barrier <PIPE_V>
// CHECK-NEXT: pto.tadd
// CHECK-NEXT: return
func.func @line(%g: !pto.partition_tensor_view<8x64xf32>) {
  %a = pto.alloc_tile : !V
  %b = pto.alloc_tile : !V
  %c = pto.alloc_tile : !V
  %d = pto.alloc_tile : !V
  pto.tload ins(%g : !pto.partition_tensor_view<8x64xf32>) outs(%a : !V)
  pto.tabs ins(%a : !V) outs(%b : !V)
  pto.tabs ins(%a : !V) outs(%c : !V)
  pto.tadd ins(%b, %c : !V, !V) outs(%d : !V)
  return
}

// The trip before is in front of a loop's body, and what either arm leaves is in front of what follows.
// CHECK-LABEL: @nest
// CHECK:      scf.for
// CHECK-NEXT:   pto.barrier <PIPE_V>
// CHECK-NEXT:   pto.tneg
// CHECK-NEXT: }
// CHECK-NEXT: scf.if
// CHECK-NEXT:   pto.texp
// CHECK-NEXT: }
// CHECK-NEXT: pto.barrier <PIPE_V>
// CHECK-NEXT: pto.tadd
func.func @nest(%n: index, %low: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.alloc_tile : !V
  %b = pto.alloc_tile : !V
  %c = pto.alloc_tile : !V
  scf.for %i = %c0 to %n step %c1 {
    pto.tneg ins(%a : !V) outs(%a : !V)
  }
  scf.if %low {
    pto.texp ins(%b : !V) outs(%b : !V)
  }
  pto.tadd ins(%b, %c : !V, !V) outs(%c : !V)
  return
}

// CHECK-LABEL: @by_hand
// CHECK-NOT: pto.barrier <PIPE_V>
func.func @by_hand() {
  %a = pto.alloc_tile : !V
  pto.tneg ins(%a : !V) outs(%a : !V)
  pto.barrier <PIPE_MTE2>
  pto.tneg ins(%a : !V) outs(%a : !V)
  return
}

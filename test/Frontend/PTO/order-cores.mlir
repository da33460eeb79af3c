// RUN: pto-opt %s --pto-order-cores | FileCheck %s

!G = !pto.partition_tensor_view<32x32xf32>
!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!V = !pto.tile_buf<vec, 32x32xf32>

// The vector core reads memory that the cube core writes, and the cube core writes it again in the next trip. Memory that only one core accesses is not ordered.
// CHECK-LABEL: func @loop
// CHECK-SAME: pto.ordered
// CHECK: scf.for
// CHECK-NEXT: pto.tstore
// CHECK: pto.section.cube
// CHECK: pto.cross_set <PIPE_FIX>, 2, %[[TO_VECTOR:.*]] {pto.fence}
// CHECK: pto.cross_wait <PIPE_S>, %[[TO_CUBE:.*]]
// CHECK: pto.section.vector
// CHECK: pto.cross_set <PIPE_MTE3>, 2
// CHECK: pto.cross_wait <PIPE_S>
// CHECK: pto.tload
// CHECK-NEXT: pto.tstore
// CHECK: pto.section.cube
// CHECK: pto.section.vector
// CHECK-NOT: pto.section
// CHECK: return
func.func @loop(%w: !G, %out: !G, %other: !G) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.alloc_tile : !A
  %v = pto.alloc_tile : !V
  scf.for %i = %c0 to %c4 step %c1 {
    pto.tstore ins(%a : !A) outs(%w : !G)
    pto.tload ins(%w : !G) outs(%v : !V)
    pto.tstore ins(%v : !V) outs(%out : !G)
  }
  pto.tstore ins(%a : !A) outs(%other : !G)
  return
}

// Both only read shared memory, or access disjoint memory.
// CHECK-LABEL: func @apart
// CHECK-NOT: pto.section
// CHECK: return
func.func @apart(%w: !G, %x: !G) {
  %a = pto.alloc_tile : !A
  %v = pto.alloc_tile : !V
  pto.tstore ins(%a : !A) outs(%w : !G)
  pto.tstore ins(%v : !V) outs(%x : !G)
  return
}

// A text with explicit sections also orders them explicitly.
// CHECK-LABEL: func @sections
// CHECK-NOT: pto.cross_set
// CHECK: return
func.func @sections(%w: !G) {
  %a = pto.alloc_tile : !A
  %v = pto.alloc_tile : !V
  pto.section.cube {
    pto.tstore ins(%a : !A) outs(%w : !G)
  }
  pto.section.vector {
    pto.tload ins(%w : !G) outs(%v : !V)
  }
  return
}

// Scalars of a kernel without work for the cube core are the vector core's.
// CHECK-LABEL: func @scalars
// CHECK-NOT: pto.section
// CHECK: return
func.func @scalars(%p: !pto.ptr<f32>, %w: !G) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %v = pto.alloc_tile : !V
  pto.tload ins(%w : !G) outs(%v : !V)
  scf.for %i = %c0 to %c4 step %c1 {
    %x = pto.tgetval ins(%v, %i : !V, index) outs : f32
    pto.store_scalar %x, %p[%i] : !pto.ptr<f32>, f32
  }
  return
}

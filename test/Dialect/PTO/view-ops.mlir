// Every form of these ops parses, verifies and round-trips.
// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s

!D = !pto.tensor_view<?x?xf32>
!I = !pto.tile_buf<vec, 32x32xi32>
!M = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
!P = !pto.ptr<f32>
!V = !pto.tile_buf<vec, 32x32xf32>

// CHECK-LABEL: func.func @forms
func.func @forms(%d: !D, %e: f32, %m: !M, %p: !P, %q: i64, %v: !V, %x0: index, %x1: index, %x16: index, %x32: index) {
  // CHECK: pto.make_tensor_view{{[^a-z_.]|$}}
  %r0 = pto.make_tensor_view %p, shape = [%x32, %x32], strides = [%x32, %x1] : !D
  // CHECK: pto.make_tensor_view{{[^a-z_.]|$}}
  %r1 = pto.make_tensor_view %p, shape = [%x32, %x32], strides = [%x32, %x1] {layout = #pto.layout<nd>} : !D
  // CHECK: pto.partition_view{{[^a-z_.]|$}}
  %r2 = pto.partition_view %d, offsets = [%x0, %x0], sizes = [%x16, %x32] : !D -> !pto.partition_tensor_view<?x32xf32>
  // CHECK: pto.get_tensor_view_dim{{[^a-z_.]|$}}
  %r3 = pto.get_tensor_view_dim %d, %x0 : !D -> index
  // CHECK: pto.addptr{{[^a-z_.]|$}}
  %r4 = pto.addptr %p, %x16 : !P -> !P
  // CHECK: pto.addptr{{[^a-z_.]|$}}
  %r5 = pto.addptr %p, %x16 : <f32> -> <f32>
  // CHECK: pto.load_scalar{{[^a-z_.]|$}}
  %r6 = pto.load_scalar %p[%x1] : !P -> f32
  // CHECK: pto.store_scalar{{[^a-z_.]|$}}
  pto.store_scalar %e, %p[%x1] : !P, f32
  // CHECK: pto.alloc_tile{{[^a-z_.]|$}}
  %r7 = pto.alloc_tile : !V
  // CHECK: pto.alloc_tile{{[^a-z_.]|$}}
  %r8 = pto.alloc_tile valid_row = %x16 valid_col = %x16 : !pto.tile_buf<vec, 32x32xf32, valid=?x?>
  // CHECK: pto.alloc_tile{{[^a-z_.]|$}}
  %r9 = pto.alloc_tile addr = %q : !V
  // CHECK: pto.declare_tile{{[^a-z_.]|$}}
  %r10 = pto.declare_tile -> !V
  // CHECK: pto.tassign{{[^a-z_.]|$}}
  %r11 = pto.tassign %v, %q : !V -> !V
  // CHECK: pto.subset{{[^a-z_.]|$}}
  %r12 = pto.subset %v[%x0, %x16] sizes [32, 16] : !V
  // CHECK: pto.subview {{.*}} sizes [32, 16] : !pto.tile_buf<vec, 32x32xf32> -> !pto.tile_buf<vec, 32x16xf32>
  %part = pto.subview %v[%x0, %x16] sizes [32, 16] : !V
  // CHECK: pto.subview {{.*}} sizes [16, 16] valid [{{.*}}] : !pto.tile_buf<vec, 32x32xf32> -> !pto.tile_buf<vec, 16x16xf32, valid=?x?>
  %part2 = pto.subview %v[%x0, %x16] sizes [16, 16] valid [%x1, %x16] : !V
  // CHECK: pto.subview {{.*}} sizes [1, 32] : !pto.tile_buf<mat, {{.*}}> -> !pto.tile_buf<mat, 1x32xf16
  %c0 = arith.constant 0 : index
  %part3 = pto.subview %m[%x1, %c0] sizes [1, 32] : !M
  // CHECK: pto.treshape{{[^a-z_.]|$}}
  %r13 = pto.treshape %v : !V -> !pto.tile_buf<vec, 16x64xf32>
  // CHECK: pto.bitcast{{[^a-z_.]|$}}
  %r14 = pto.bitcast %v : !V -> !I
  return
}

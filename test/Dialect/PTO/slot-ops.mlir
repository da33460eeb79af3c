// RUN: pto-opt %s | pto-opt | FileCheck %s
// RUN: pto-opt %s -mlir-print-op-generic | pto-opt | FileCheck %s

!T = !pto.tile_buf<vec, 16x64xf32, valid=?x64>
!M = !pto.multi_tile_buf<vec, 16x64xf32, valid=?x64, count=4>

// Both texts of the type are one; `count` may stand anywhere among the keys.
// CHECK-LABEL: func.func @slots
func.func @slots(%i: index, %n: index, %address: i64) {
  %c3 = arith.constant 3 : index
  // CHECK: %[[M:.*]] = pto.alloc_multi_tile valid_row = %{{.*}} : !pto.multi_tile_buf<vec, 16x64xf32, valid=?x64, count=4>
  %m = pto.alloc_multi_tile valid_row = %n : !M
  // CHECK: pto.multi_tile_get %[[M]][%{{.*}}] : !pto.multi_tile_buf<vec, 16x64xf32, valid=?x64, count=4> -> !pto.tile_buf<vec, 16x64xf32, valid=?x64>
  %a = pto.multi_tile_get %m[%i] : !M -> !T
  %b = pto.multi_tile_get %m[%i] : !pto.multi_tile_buf<!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=?, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>, count=4> -> !T
  %c = pto.multi_tile_get %m[%c3] : !pto.multi_tile_buf<vec, 16x64xf32, count=4, valid=?x64> -> !T
  // CHECK: pto.alloc_multi_tile addr = %{{.*}} : !pto.multi_tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024, compact=1, count=2>
  %acc = pto.alloc_multi_tile addr = %address : !pto.multi_tile_buf<!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024, compact=1>, count=2>
  // The block layout of a left tile depends on the architecture.
  // CHECK: pto.alloc_multi_tile : !pto.multi_tile_buf<left, 16x16xf16, slayout=row_major, count=16>
  %left = pto.alloc_multi_tile : !pto.multi_tile_buf<left, 16x16xf16, blayout=col_major, slayout=row_major, count=16>
  return
}

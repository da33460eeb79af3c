// RUN: pto-opt %s --pto-estimate=num-core=1 | FileCheck %s
// RUN: not pto-opt %s --pto-estimate=num-core=0 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: num-core must be positive, got 0

// Two vector cores share the trips of a loop; loads, work and stores overlap, so that eight trips of a core take less than
// twice four of them, and far more than one.
// CHECK-LABEL: func.func @stream
// CHECK-SAME: pto.estimate = 1{{[0-9][0-9][0-9]\.[0-9]+}} : f64
func.func @stream(%in: !pto.ptr<f32>, %out: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %s = pto.get_subblock_idx
  %first = arith.index_cast %s : i64 to index
  %n = pto.get_subblock_num
  %step = arith.index_cast %n : i64 to index
  %v = pto.make_tensor_view %in, shape = [%c256, %c64], strides = [%c64, %c1] : !pto.tensor_view<256x64xf32>
  %w = pto.make_tensor_view %out, shape = [%c256, %c64], strides = [%c64, %c1] : !pto.tensor_view<256x64xf32>
  scf.for %i = %first to %c16 step %step {
    %row = arith.muli %i, %c16 : index
    %a = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    %b = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    %p = pto.partition_view %v, offsets = [%row, %c0], sizes = [%c16, %c64] : !pto.tensor_view<256x64xf32> -> !pto.partition_tensor_view<16x64xf32>
    pto.tload ins(%p : !pto.partition_tensor_view<16x64xf32>) outs(%a : !pto.tile_buf<vec, 16x64xf32>)
    pto.texp ins(%a : !pto.tile_buf<vec, 16x64xf32>) outs(%b : !pto.tile_buf<vec, 16x64xf32>)
    %q = pto.partition_view %w, offsets = [%row, %c0], sizes = [%c16, %c64] : !pto.tensor_view<256x64xf32> -> !pto.partition_tensor_view<16x64xf32>
    pto.tstore ins(%b : !pto.tile_buf<vec, 16x64xf32>) outs(%q : !pto.partition_tensor_view<16x64xf32>)
  }
  return
}

// How often it runs is an argument: no estimate.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: pto.estimate
func.func @unknown(%in: !pto.ptr<f32>, %count: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
  scf.for %i = %c0 to %count step %c1 {
    pto.texp ins(%t : !pto.tile_buf<vec, 16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>)
  }
  return
}

// A part of a tile has the valid extents that it is given: an exponential of 8 rows takes 13 + 2 * 8 + 18 cycles.
// CHECK-LABEL: func.func @part_of_a_tile
// CHECK-SAME: pto.estimate = 4.700000e+01
func.func @part_of_a_tile(%in: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %t = pto.alloc_tile : !pto.tile_buf<vec, 64x64xf32>
  %p = pto.subview %t[%c0, %c0] sizes [64, 64] valid [%c8, %c64] : !pto.tile_buf<vec, 64x64xf32> -> !pto.tile_buf<vec, 64x64xf32, valid=?x64>
  pto.texp ins(%p : !pto.tile_buf<vec, 64x64xf32, valid=?x64>) outs(%p : !pto.tile_buf<vec, 64x64xf32, valid=?x64>)
  return
}

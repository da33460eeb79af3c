// RUN: pto-opt %s --split-input-file --convert-linalg-to-pto | FileCheck %s

#full = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#column = affine_map<(d0, d1) -> (d0)>
!tile = memref<16x20xf32, #pto.address_space<vec>>
!vector = memref<20xf32, #pto.address_space<vec>>

// A row vector stays one row; constants are scalars; division by a power of two is a multiplication; columns are
// padded to 32 bytes; ops outside a distributed loop run on the first core.
// CHECK-LABEL: func.func private @rows(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>, %arg2: !pto.ptr<f32>)
// CHECK: scf.for %{{.*}} = %[[CORE:.*]] to %c1 step %[[CORES:.*]] {
// CHECK: %[[X:.*]] = pto.alloc_tile : !pto.tile_buf<vec, 16x24xf32, valid=16x20>
// CHECK: %[[V:.*]] = pto.alloc_tile : !pto.tile_buf<vec, 1x24xf32, valid=1x20>
// CHECK: pto.tload ins(%{{.*}} : !pto.partition_tensor_view<16x20xf32>) outs(%[[X]] :
// CHECK: pto.tload ins(%{{.*}} : !pto.partition_tensor_view<1x20xf32>) outs(%[[V]] :
// CHECK: pto.tmuls ins(%[[V]], %{{.*}} : !pto.tile_buf<vec, 1x24xf32, valid=1x20>, f32) outs(%[[S:.*]] :
// CHECK: pto.tcolexpandadd ins(%[[X]], %[[S]] : {{.*}}) outs(%[[A:.*]] :
// CHECK: pto.trelu ins(%[[A]] : {{.*}}) outs(%[[OUT:.*]] :
// CHECK: pto.tstore ins(%[[OUT]]
func.func private @rows(%x: memref<16x20xf32>, %v: memref<20xf32>, %out: memref<16x20xf32>)
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0.0 : f32
  %four = arith.constant 4.0 : f32
  %0 = memref.alloc() : !tile
  %1 = memref.alloc() : !vector
  %2 = memref.alloc() : !tile
  memref.copy %x, %0 : memref<16x20xf32> to !tile
  memref.copy %v, %1 : memref<20xf32> to !vector
  linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%0, %1 : !tile, !vector) outs(%2 : !tile) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.divf %b, %four : f32
    %4 = arith.addf %a, %3 : f32
    %5 = arith.maximumf %4, %zero : f32
    linalg.yield %5 : f32
  }
  memref.copy %2, %out : !tile to memref<16x20xf32>
  return
}

// -----

#full = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d0)>
!tile = memref<16x20xf32, #pto.address_space<vec>>
!vector = memref<16xf32, #pto.address_space<vec>>

// A row reduction leaves a column; combining it with the initial value reinterprets the same bytes as a row.
// CHECK-LABEL: func.func private @reduce
// CHECK: %[[COL:.*]] = pto.alloc_tile : !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
// CHECK: %[[ROW:.*]] = pto.treshape %[[COL]] : {{.*}} -> !pto.tile_buf<vec, 1x16xf32>
// CHECK: pto.texpands ins({{.*}}) outs(%[[ROW]]
// CHECK: pto.trowsum ins({{.*}}) outs(%[[PART:.*]] : !pto.tile_buf<vec, 16x1xf32, blayout=col_major>)
// CHECK: %[[PARTROW:.*]] = pto.treshape %[[PART]]
// CHECK: pto.tadd ins(%[[ROW]], %[[PARTROW]] : {{.*}}) outs(%[[ROW]] :
// CHECK: pto.trowexpanddiv ins(%{{.*}}, %[[COL]] :
func.func private @reduce(%x: memref<16x20xf32>, %out: memref<16x20xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc() : !tile
  %1 = memref.alloc() : !vector
  %2 = memref.alloc() : !tile
  memref.copy %x, %0 : memref<16x20xf32> to !tile
  linalg.fill ins(%zero : f32) outs(%1 : !vector)
  linalg.generic {indexing_maps = [#full, #column], iterator_types = ["parallel", "reduction"]} ins(%0 : !tile) outs(%1 : !vector) {
  ^bb0(%a: f32, %b: f32):
    %3 = arith.addf %b, %a : f32
    linalg.yield %3 : f32
  }
  linalg.generic {indexing_maps = [#full, #column, #full], iterator_types = ["parallel", "parallel"]}
      ins(%0, %1 : !tile, !vector) outs(%2 : !tile) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.divf %a, %b : f32
    linalg.yield %3 : f32
  }
  memref.copy %2, %out : !tile to memref<16x20xf32>
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// The distributed loop starts at this core's index and steps by the number of cores; the ragged tile has a dynamic valid part.
// CHECK-LABEL: func.func private @spread
// CHECK: %[[START:.*]] = arith.muli %{{.*}}, %c64 : index
// CHECK: %[[STEP:.*]] = arith.muli %{{.*}}, %c64 : index
// CHECK: scf.for %[[I:.*]] = %[[START]] to %c100 step %[[STEP]] {
// CHECK: %[[LEFT:.*]] = arith.subi %c100, %[[I]]
// CHECK: %[[SIZE:.*]] = arith.minsi %[[LEFT]], %c64
// CHECK: pto.alloc_tile valid_col = %[[SIZE]] : !pto.tile_buf<vec, 1x64xf16, valid=1x?>
// CHECK: pto.addptr %arg0, %[[I]]
func.func private @spread(%x: memref<100xf16>, %out: memref<100xf16>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c64 {
    %size = affine.min affine_map<(d0) -> (-d0 + 100, 64)>(%i)
    %0 = memref.alloc(%size) : memref<?xf16, #pto.address_space<vec>>
    %1 = memref.subview %x[%i] [%size] [1] : memref<100xf16> to memref<?xf16, strided<[1], offset: ?>>
    memref.copy %1, %0 : memref<?xf16, strided<[1], offset: ?>> to memref<?xf16, #pto.address_space<vec>>
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%0 : memref<?xf16, #pto.address_space<vec>>) {
    ^bb0(%a: f16):
      %2 = math.exp %a : f16
      linalg.yield %2 : f16
    }
    %3 = memref.subview %out[%i] [%size] [1] : memref<100xf16> to memref<?xf16, strided<[1], offset: ?>>
    memref.copy %0, %3 : memref<?xf16, #pto.address_space<vec>> to memref<?xf16, strided<[1], offset: ?>>
  } {pto.distribute}
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// A type that occurs only in a body affects the padding: 24 bf16 do not fill a block of 32 bytes.
// CHECK-LABEL: func.func private @inner_type
// CHECK-NOT: x24x
// CHECK: pto.alloc_tile : !pto.tile_buf<vec, 1x32xf32, valid=1x24>
// CHECK: pto.alloc_tile : !pto.tile_buf<vec, 1x32xbf16, valid=1x24>
func.func private @inner_type(%x: memref<24xf32>, %out: memref<24xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = memref.alloc() : memref<24xf32, #pto.address_space<vec>>
  memref.copy %x, %0 : memref<24xf32> to memref<24xf32, #pto.address_space<vec>>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%0 : memref<24xf32, #pto.address_space<vec>>) {
  ^bb0(%a: f32):
    %1 = arith.truncf %a : f32 to bf16
    %2 = arith.extf %1 : bf16 to f32
    linalg.yield %2 : f32
  }
  memref.copy %0, %out : memref<24xf32, #pto.address_space<vec>> to memref<24xf32>
  return
}

// -----

#row = affine_map<(d0, d1) -> (d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// No instruction broadcasts bf16: it goes through f32.
// CHECK-LABEL: func.func private @spread_bf16
// CHECK: pto.tcvt {{.*}}bf16{{.*}}f32
// CHECK: pto.tcolexpand {{.*}}f32{{.*}}f32
// CHECK: pto.tcvt {{.*}}f32{{.*}}bf16
func.func private @spread_bf16(%x: memref<32xbf16>, %out: memref<4x32xbf16>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = memref.alloc() : memref<32xbf16, #pto.address_space<vec>>
  %1 = memref.alloc() : memref<4x32xbf16, #pto.address_space<vec>>
  memref.copy %x, %0 : memref<32xbf16> to memref<32xbf16, #pto.address_space<vec>>
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : memref<32xbf16, #pto.address_space<vec>>) outs(%1 : memref<4x32xbf16, #pto.address_space<vec>>) {
  ^bb0(%a: bf16, %b: bf16):
    linalg.yield %a : bf16
  }
  memref.copy %1, %out : memref<4x32xbf16, #pto.address_space<vec>> to memref<4x32xbf16>
  return
}

// -----

// A unit dimension taken with a step has a stride that matches no dimension of the source; the dropped dimension is still identified.
// CHECK-LABEL: func.func private @stepped_unit
// CHECK: pto.tload
// CHECK: pto.tstore
func.func private @stepped_unit(%x: memref<1x2x6x32xf32>, %out: memref<1x1x32xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = memref.alloc() : memref<1x1x32xf32, #pto.address_space<vec>>
  %1 = memref.subview %x[0, 1, 3, 0] [1, 1, 1, 32] [1, 2, 2, 1] : memref<1x2x6x32xf32> to memref<1x1x32xf32, strided<[384, 384, 1], offset: 288>>
  memref.copy %1, %0 : memref<1x1x32xf32, strided<[384, 384, 1], offset: 288>> to memref<1x1x32xf32, #pto.address_space<vec>>
  memref.copy %0, %out : memref<1x1x32xf32, #pto.address_space<vec>> to memref<1x1x32xf32>
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
// The bits of a float are its tile under another type; the tile is not written again before they are read.
// CHECK-LABEL: func.func private @bits
// CHECK: pto.tabs ins(%[[X:.*]] : {{.*}}) outs(%[[A:[^ ]*]]
// CHECK: %[[B:.*]] = pto.bitcast %[[A]]
// CHECK: pto.texp ins(%[[A]]{{.*}}) outs(%[[E:[^ ]*]]
// CHECK-NOT: outs(%[[A]]
// CHECK: pto.tshrs ins(%[[B]], %{{.*}}
// CHECK: pto.tshls
func.func private @bits(%x: memref<4x32xf32>, %out: memref<4x32xi32>, %e: memref<4x32xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = memref.alloc() : memref<4x32xf32, #pto.address_space<vec>>
  %1 = memref.alloc() : memref<4x32xi32, #pto.address_space<vec>>
  %2 = memref.alloc() : memref<4x32xf32, #pto.address_space<vec>>
  memref.copy %x, %0 : memref<4x32xf32> to memref<4x32xf32, #pto.address_space<vec>>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : memref<4x32xf32, #pto.address_space<vec>>) outs(%1, %2 : memref<4x32xi32, #pto.address_space<vec>>, memref<4x32xf32, #pto.address_space<vec>>) {
  ^bb0(%a: f32, %b: i32, %c: f32):
    %three = arith.constant 3 : i32
    %m = math.absf %a : f32
    %i = arith.bitcast %m : f32 to i32
    %x0 = math.exp %m : f32
    %x1 = math.exp %x0 : f32
    %r = arith.shrsi %i, %three : i32
    %l = arith.shli %r, %three : i32
    linalg.yield %l, %x1 : i32, f32
  }
  memref.copy %1, %out : memref<4x32xi32, #pto.address_space<vec>> to memref<4x32xi32>
  memref.copy %2, %e : memref<4x32xf32, #pto.address_space<vec>> to memref<4x32xf32>
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
// Bits have no broadcasting forms: a row and a constant become tiles. Integers of 32 bits are pairs of 16.
// CHECK-LABEL: func.func private @integers_bit_by_bit
// CHECK: pto.tcolexpand ins(%{{.*}}) outs(%[[ROW:[^ ]*]]
// CHECK: %[[HALVES:.*]] = pto.treshape %[[ROW]] {{.*}} -> !pto.tile_buf<vec, 4x64xi16>
// CHECK: pto.tand ins(%{{.*}}, %[[HALVES]]
// CHECK: pto.texpands
// CHECK: pto.txor ins({{.*}}4x64xi16>, {{.*}}4x64xi16>
// CHECK: pto.tor ins({{.*}}4x64xi16>
func.func private @integers_bit_by_bit(%x: memref<4x32xi32>, %y: memref<32xi32>, %out: memref<4x32xi32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = memref.alloc() : memref<4x32xi32, #pto.address_space<vec>>
  %1 = memref.alloc() : memref<32xi32, #pto.address_space<vec>>
  %2 = memref.alloc() : memref<4x32xi32, #pto.address_space<vec>>
  memref.copy %x, %0 : memref<4x32xi32> to memref<4x32xi32, #pto.address_space<vec>>
  memref.copy %y, %1 : memref<32xi32> to memref<32xi32, #pto.address_space<vec>>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : memref<4x32xi32, #pto.address_space<vec>>, memref<32xi32, #pto.address_space<vec>>) outs(%2 : memref<4x32xi32, #pto.address_space<vec>>) {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %six = arith.constant 6 : i32
    %m = arith.andi %a, %b : i32
    %n = arith.xori %m, %six : i32
    %o = arith.ori %n, %a : i32
    linalg.yield %o : i32
  }
  memref.copy %2, %out : memref<4x32xi32, #pto.address_space<vec>> to memref<4x32xi32>
  return
}

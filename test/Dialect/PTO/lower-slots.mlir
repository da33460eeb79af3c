// RUN: pto-opt %s -split-input-file -pto-plan-local-memory | FileCheck %s
// RUN: pto-opt %s -split-input-file -pto-plan-local-memory -pto-insert-sync | FileCheck %s --check-prefix=SYNC

!T = !pto.tile_buf<vec, 1x3xf32>
!M = !pto.multi_tile_buf<vec, 1x3xf32, count=3>
!G = !pto.partition_tensor_view<1x3xf32>
// A slot begins every 32 bytes behind the tile that is used first; a slot that nobody uses is no tile.
// CHECK-LABEL: func.func @constants
func.func @constants(%g: !G) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %first = pto.alloc_tile : !T
  // CHECK-NOT: pto.alloc_multi_tile
  %m = pto.alloc_multi_tile : !M
  %t = pto.multi_tile_get %m[%c0] : !M -> !T
  %unused = pto.multi_tile_get %m[%c1] : !M -> !T
  %u = pto.multi_tile_get %m[%c2] : !M -> !T
  // CHECK: %[[A:.*]] = arith.constant 32 : i64
  // CHECK-NEXT: %[[T:.*]] = pto.alloc_tile addr = %[[A]] {pto.padded} : !pto.tile_buf<vec, 1x3xf32>
  // CHECK-NEXT: %[[B:.*]] = arith.constant 96 : i64
  // CHECK-NEXT: %[[U:.*]] = pto.alloc_tile addr = %[[B]] {pto.padded} : !pto.tile_buf<vec, 1x3xf32>
  pto.tload ins(%g : !G) outs(%first : !T)
  // CHECK: pto.tload ins({{.*}}) outs(%[[T]] :
  // CHECK: pto.tload ins({{.*}}) outs(%[[U]] :
  pto.tload ins(%g : !G) outs(%t : !T)
  pto.tload ins(%g : !G) outs(%u : !T)
  pto.tstore ins(%first : !T) outs(%g : !G)
  return
}

// -----

!T = !pto.tile_buf<vec, 16x64xf32>
!M = !pto.multi_tile_buf<vec, 16x64xf32, count=2>
!G = !pto.partition_tensor_view<16x64xf32>
// Slots that take turns with the trips: each has flags of its own.
// CHECK-LABEL: func.func @turns
// SYNC-LABEL: func.func @turns
func.func @turns(%g: !G, %h: !G, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = pto.alloc_multi_tile : !M
  scf.for %i = %n to %c2 step %c1 {
    // CHECK: %[[SLOT:.*]] = arith.remui
    // CHECK: %[[NUMBER:.*]] = arith.index_cast %[[SLOT]] : index to i64
    // CHECK: %[[OFFSET:.*]] = arith.muli %[[NUMBER]], %
    // CHECK: pto.alloc_tile addr = %{{.*}} {pto.base = 0 : i64, pto.buffers = 2 : i32} : !pto.tile_buf<vec, 16x64xf32>
    // SYNC: pto.wait_flag_dyn
    // SYNC: pto.tload
    // SYNC: pto.set_flag_dyn
    // SYNC: pto.wait_flag_dyn
    // SYNC: pto.tstore
    // SYNC: pto.set_flag_dyn
    %slot = arith.remui %i, %c2 : index
    %t = pto.multi_tile_get %m[%slot] : !M -> !T
    pto.tload ins(%g : !G) outs(%t : !T)
    pto.tstore ins(%t : !T) outs(%h : !G)
  }
  return
}

// -----

!T = !pto.tile_buf<vec, 16x64xf32>
!M = !pto.multi_tile_buf<vec, 16x64xf32, count=2>
!G = !pto.partition_tensor_view<16x64xf32>
// The first trip of the inner loop takes another slot each time, so the slots have flags in common.
// CHECK-LABEL: func.func @shifted
// SYNC-LABEL: func.func @shifted
// SYNC-NOT: flag_dyn
func.func @shifted(%g: !G, %h: !G, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = pto.alloc_multi_tile : !M
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %sum = arith.addi %i, %j : index
      %slot = arith.remui %sum, %c2 : index
      // CHECK: pto.alloc_tile addr = %{{.*}} {pto.ring = array<i64: 0, 8192>} : !pto.tile_buf<vec, 16x64xf32>
      %t = pto.multi_tile_get %m[%slot] : !M -> !T
      pto.tload ins(%g : !G) outs(%t : !T)
      pto.tstore ins(%t : !T) outs(%h : !G)
    }
  }
  return
}

// -----

!T = !pto.tile_buf<vec, 16x64xf32>
!M = !pto.multi_tile_buf<vec, 16x64xf32, count=3>
!G = !pto.partition_tensor_view<16x64xf32>
// Of an odd number of slots two trips of one parity may take different ones, and two of different parity the same one.
// CHECK-LABEL: func.func @odd
// SYNC-LABEL: func.func @odd
// SYNC-NOT: flag_dyn
func.func @odd(%g: !G, %h: !G, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %m = pto.alloc_multi_tile : !M
  scf.for %i = %c0 to %n step %c1 {
    %slot = arith.remui %i, %c3 : index
    // CHECK: pto.alloc_tile addr = %{{.*}} {pto.ring = array<i64: 0, 12288>} : !pto.tile_buf<vec, 16x64xf32>
    %t = pto.multi_tile_get %m[%slot] : !M -> !T
    pto.tload ins(%g : !G) outs(%t : !T)
    pto.tstore ins(%t : !T) outs(%h : !G)
  }
  return
}

// -----

!T = !pto.tile_buf<vec, 16x64xf32>
!M = !pto.multi_tile_buf<vec, 16x64xf32, count=2>
!G = !pto.partition_tensor_view<16x64xf32>
// Trips of step 3 by their number from the lower bound; as a Python remainder; in a branch, where the tile stands before it.
// CHECK-LABEL: func.func @numbers
// SYNC-LABEL: func.func @numbers
// SYNC: wait_flag_dyn
func.func @numbers(%g: !G, %h: !G, %n: index, %yes: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %m = pto.alloc_multi_tile : !M
  scf.for %k = %c0 to %n step %c1 {
    scf.for %i = %k to %n step %c4 {
      %from = arith.subi %i, %k : index
      %trip = arith.divui %from, %c4 : index
      %slot = arith.andi %trip, %c1 : index
      // CHECK: pto.alloc_tile addr = %{{.*}} {pto.base = 0 : i64, pto.buffers = 2 : i32}
      %t = pto.multi_tile_get %m[%slot] : !M -> !T
      pto.tload ins(%g : !G) outs(%t : !T)
      pto.tstore ins(%t : !T) outs(%h : !G)
    }
  }
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: scf.for
    // CHECK: pto.alloc_tile addr = %{{.*}} {pto.base = 0 : i64, pto.buffers = 2 : i32}
    // CHECK: scf.if
    // CHECK-NOT: pto.alloc_tile
    %rest = arith.remsi %i, %c2 : index
    %more = arith.addi %rest, %c2 : index
    %negative = arith.cmpi slt, %rest, %c0 : index
    %slot = arith.select %negative, %more, %rest : index
    scf.if %yes {
      %t = pto.multi_tile_get %m[%slot] : !M -> !T
      pto.tload ins(%g : !G) outs(%t : !T)
      %u = pto.multi_tile_get %m[%slot] : !M -> !T
      pto.tstore ins(%u : !T) outs(%h : !G)
    }
  }
  return
}

// -----

!T = !pto.tile_buf<vec, 16x64xf32>
!M = !pto.multi_tile_buf<vec, 16x64xf32, count=4>
!G = !pto.partition_tensor_view<16x64xf32>
// A slot that takes turns with the outer loop, of a number that only the inner one knows.
// CHECK-LABEL: func.func @inner
func.func @inner(%g: !G, %h: !G, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = pto.alloc_multi_tile : !M
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %low = arith.remsi %i, %c2 : index
      %high = arith.addi %low, %c2 : index
      %later = arith.cmpi sgt, %j, %i : index
      %slot = arith.select %later, %high, %low : index
      // CHECK: pto.alloc_tile addr = %{{.*}} {pto.ring = array<i64: 0, 16384>} : !pto.tile_buf<vec, 16x64xf32>
      %t = pto.multi_tile_get %m[%slot] : !M -> !T
      pto.tload ins(%g : !G) outs(%t : !T)
      pto.tstore ins(%t : !T) outs(%h : !G)
    }
  }
  return
}

// -----

!T = !pto.tile_buf<vec, 16x8xf32>
!M = !pto.multi_tile_buf<vec, 16x8xf32, count=2>
!G = !pto.partition_tensor_view<16x8xf32>
// Slots with an address lie where the program says, tiles around them.
// CHECK-LABEL: func.func @fixed
func.func @fixed(%g: !G, %slot: index) {
  %c1 = arith.constant 1 : index
  %at = arith.constant 512 : i64
  %m = pto.alloc_multi_tile addr = %at : !M
  // CHECK: %[[A:.*]] = arith.constant 1024 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[A]] : !pto.tile_buf<vec, 16x8xf32>
  %t = pto.multi_tile_get %m[%c1] : !M -> !T
  // CHECK: pto.alloc_tile addr = %{{.*}} {pto.ring = array<i64: 512, 1024>} : !pto.tile_buf<vec, 16x8xf32>
  %u = pto.multi_tile_get %m[%slot] : !M -> !T
  // CHECK: %[[B:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[B]]
  %v = pto.alloc_tile : !T
  // CHECK: %[[C:.*]] = arith.constant 1536 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[C]]
  %w = pto.alloc_tile : !T
  pto.tload ins(%g : !G) outs(%v : !T)
  pto.tload ins(%g : !G) outs(%w : !T)
  pto.tload ins(%g : !G) outs(%t : !T)
  pto.tadd ins(%t, %v : !T, !T) outs(%u : !T)
  pto.tadd ins(%u, %w : !T, !T) outs(%u : !T)
  pto.tstore ins(%u : !T) outs(%g : !G)
  return
}

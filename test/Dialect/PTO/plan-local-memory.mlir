// RUN: pto-opt %s -split-input-file -pto-plan-local-memory | FileCheck %s

// All tiles fit: disjoint bytes in the order of first use, aligned to 32 bytes in UB and 512 bytes in L0A.
// CHECK-LABEL: func.func @apart
func.func @apart(%g: !pto.partition_tensor_view<1x3xf32>, %m: !pto.tile_buf<mat, 16x8xf32, blayout=col_major, slayout=row_major>) {
  // CHECK: %[[A:.*]] = arith.constant 32 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[A]]
  %a = pto.alloc_tile : !pto.tile_buf<vec, 1x3xf32>
  // CHECK: %[[B:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[B]]
  %b = pto.alloc_tile : !pto.tile_buf<vec, 1x3xf32>
  // CHECK: %[[L:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[L]]
  %l = pto.alloc_tile : !pto.tile_buf<left, 16x8xf32, slayout=row_major>
  // CHECK: %[[N:.*]] = arith.constant 512 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[N]]
  %n = pto.alloc_tile : !pto.tile_buf<left, 16x8xf32, slayout=row_major>
  pto.tload ins(%g : !pto.partition_tensor_view<1x3xf32>) outs(%b : !pto.tile_buf<vec, 1x3xf32>)
  pto.tabs ins(%b : !pto.tile_buf<vec, 1x3xf32>) outs(%a : !pto.tile_buf<vec, 1x3xf32>)
  pto.tmov ins(%m : !pto.tile_buf<mat, 16x8xf32, blayout=col_major, slayout=row_major>) outs(%l : !pto.tile_buf<left, 16x8xf32, slayout=row_major>)
  pto.tmov ins(%m : !pto.tile_buf<mat, 16x8xf32, blayout=col_major, slayout=row_major>) outs(%n : !pto.tile_buf<left, 16x8xf32, slayout=row_major>)
  return
}

// -----

!T = !pto.tile_buf<vec, 128x128xf32>
// Three tiles of 64 KiB in 184: the third reuses the bytes of the first; the alias extends the live range of the second.
// CHECK-LABEL: func.func @shared
func.func @shared(%g: !pto.partition_tensor_view<128x128xf32>) {
  // CHECK: %[[A:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[A]]
  %a = pto.alloc_tile : !T
  // CHECK: %[[B:.*]] = arith.constant 65536 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[B]]
  %b = pto.alloc_tile : !T
  // CHECK: %[[C:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[C]]
  %c = pto.alloc_tile : !T
  %w = pto.bitcast %b : !T -> !pto.tile_buf<vec, 128x128xi32>
  pto.tload ins(%g : !pto.partition_tensor_view<128x128xf32>) outs(%a : !T)
  pto.tabs ins(%a : !T) outs(%b : !T)
  pto.texp ins(%b : !T) outs(%c : !T)
  pto.tneg ins(%w : !pto.tile_buf<vec, 128x128xi32>) outs(%w : !pto.tile_buf<vec, 128x128xi32>)
  pto.tstore ins(%c : !T) outs(%g : !pto.partition_tensor_view<128x128xf32>)
  return
}

// -----

!T = !pto.tile_buf<vec, 128x128xf32>
// A tile defined outside the loop is live during the whole loop.
// CHECK-LABEL: func.func @loop
func.func @loop(%g: !pto.partition_tensor_view<128x128xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[SUM:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[SUM]]
  %sum = pto.alloc_tile : !T
  pto.tload ins(%g : !pto.partition_tensor_view<128x128xf32>) outs(%sum : !T)
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    pto.tabs ins(%sum : !T) outs(%sum : !T)
    // CHECK: %[[X:.*]] = arith.constant 65536 : i64
    // CHECK-NEXT: pto.alloc_tile addr = %[[X]]
    %x = pto.alloc_tile : !T
    // CHECK: %[[Y:.*]] = arith.constant 65536 : i64
    // CHECK-NEXT: pto.alloc_tile addr = %[[Y]]
    %y = pto.alloc_tile : !T
    pto.tload ins(%g : !pto.partition_tensor_view<128x128xf32>) outs(%x : !T)
    pto.tstore ins(%x : !T) outs(%g : !pto.partition_tensor_view<128x128xf32>)
    pto.tload ins(%g : !pto.partition_tensor_view<128x128xf32>) outs(%y : !T)
    pto.tstore ins(%y : !T) outs(%g : !pto.partition_tensor_view<128x128xf32>)
  }
  return
}

// -----

// A doubled tile alternates: base + parity * size.
// CHECK-LABEL: func.func @doubled
// CHECK-SAME: %[[LB:[a-z0-9]+]]: index, %[[UB:[a-z0-9]+]]: index, %[[STEP:[a-z0-9]+]]: index
func.func @doubled(%lb: index, %ub: index, %step: index, %g: !pto.partition_tensor_view<8x8xf32>) {
  // CHECK: scf.for %[[IV:.*]] =
  scf.for %i = %lb to %ub step %step {
    // CHECK: %[[TWO:.*]] = arith.constant 2 : index
    // CHECK: %[[FROM:.*]] = arith.subi %[[IV]], %[[LB]]
    // CHECK: %[[TRIP:.*]] = arith.floordivsi %[[FROM]], %[[STEP]]
    // CHECK: %[[TURN:.*]] = arith.remsi %[[TRIP]], %[[TWO]]
    // CHECK: %[[T64:.*]] = arith.index_cast %[[TURN]] : index to i64
    // CHECK: %[[OFFSET:.*]] = arith.muli %[[T64]]
    // CHECK: pto.alloc_tile addr = %[[OFFSET]] {pto.base = 0 : i64, pto.buffers = 2 : i32}
    %t = pto.alloc_tile {pto.buffers = 2 : i32} : !pto.tile_buf<vec, 8x8xf32>
    pto.tload ins(%g : !pto.partition_tensor_view<8x8xf32>) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
  }
  return
}

// -----

!T = !pto.tile_buf<vec, 128x128xf32>
// One arm of a branch runs: the tiles of the two arms share bytes, in a loop as well; that of the loop itself does not.
// CHECK-LABEL: func.func @arms
func.func @arms(%g: !pto.partition_tensor_view<128x128xf32>, %c: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[A:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[A]]
  %a = pto.alloc_tile : !T
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: %[[B:.*]] = arith.constant 65536 : i64
    // CHECK-NEXT: pto.alloc_tile addr = %[[B]]
    %b = pto.alloc_tile : !T
    // CHECK: %[[D:.*]] = arith.constant 65536 : i64
    // CHECK-NEXT: pto.alloc_tile addr = %[[D]]
    %d = pto.alloc_tile : !T
    pto.tload ins(%g : !pto.partition_tensor_view<128x128xf32>) outs(%a : !T)
    scf.if %c {
      pto.tabs ins(%a : !T) outs(%b : !T)
      pto.tstore ins(%b : !T) outs(%g : !pto.partition_tensor_view<128x128xf32>)
    } else {
      pto.tabs ins(%a : !T) outs(%d : !T)
      pto.tstore ins(%d : !T) outs(%g : !pto.partition_tensor_view<128x128xf32>)
    }
  }
  return
}

// -----

!T = !pto.tile_buf<vec, 64x128xf32>
// A loop inside of an arm keeps its tiles over all its trips; one that is read behind the branch lives until there.
// CHECK-LABEL: func.func @loop_in_arm
func.func @loop_in_arm(%g: !pto.partition_tensor_view<64x128xf32>, %c: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile
  %a = pto.alloc_tile : !T
  // CHECK: arith.constant 32768 : i64
  // CHECK-NEXT: pto.alloc_tile
  %b = pto.alloc_tile : !T
  // CHECK: arith.constant 65536 : i64
  // CHECK-NEXT: pto.alloc_tile
  %d = pto.alloc_tile : !T
  // CHECK: arith.constant 32768 : i64
  // CHECK-NEXT: pto.alloc_tile
  %e = pto.alloc_tile : !T
  // CHECK: arith.constant 65536 : i64
  // CHECK-NEXT: pto.alloc_tile
  %f = pto.alloc_tile : !T
  // CHECK: arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile
  %h = pto.alloc_tile : !T
  pto.tload ins(%g : !pto.partition_tensor_view<64x128xf32>) outs(%a : !T)
  scf.if %c {
    scf.for %i = %c0 to %n step %c1 {
      pto.tabs ins(%a : !T) outs(%b : !T)
      pto.tabs ins(%b : !T) outs(%d : !T)
      pto.tstore ins(%d : !T) outs(%g : !pto.partition_tensor_view<64x128xf32>)
    }
    pto.tabs ins(%a : !T) outs(%e : !T)
  } else {
    pto.tabs ins(%a : !T) outs(%f : !T)
    pto.tabs ins(%f : !T) outs(%h : !T)
    pto.tabs ins(%h : !T) outs(%e : !T)
  }
  pto.tstore ins(%e : !T) outs(%g : !pto.partition_tensor_view<64x128xf32>)
  return
}

// -----

!T = !pto.tile_buf<vec, 128x128xf32>
!C = !pto.tile_buf<vec, 128x1xf32, blayout=col_major>
!G = !pto.partition_tensor_view<128x128xf32>
// Three tiles of 64 KiB are needed at once in 184: the result of an op by elements lies where its operand lay.
// CHECK-LABEL: func.func @in_place
func.func @in_place(%g: !G) {
  // CHECK: %[[K:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[K]]
  %keep = pto.alloc_tile : !T
  // CHECK: %[[A:.*]] = arith.constant 65536 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[A]]
  %a = pto.alloc_tile : !T
  // CHECK: %[[B:.*]] = arith.constant 65536 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[B]]
  %b = pto.alloc_tile : !T
  // CHECK: %[[D:.*]] = arith.constant 65536 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[D]]
  %d = pto.alloc_tile : !T
  %c = pto.alloc_tile : !C
  pto.tload ins(%g : !G) outs(%keep : !T)
  pto.tload ins(%g : !G) outs(%a : !T)
  pto.texp ins(%a : !T) outs(%b : !T)
  pto.trowexpandmul ins(%b, %c : !T, !C) outs(%d : !T)
  pto.tadd ins(%d, %keep : !T, !T) outs(%keep : !T)
  pto.tstore ins(%keep : !T) outs(%g : !G)
  return
}

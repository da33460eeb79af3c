// RUN: pto-opt %s --pto-lower-pipes | FileCheck %s

// Tile n goes to slot n rem 8; free slots are requested from the eighth tile on, at every fourth.
!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!V = !pto.tile_buf<vec, 16x32xf32>
// CHECK-LABEL: func.func @producer
// CHECK: %[[PUSHED:.*]] = scf.for %{{.*}} = %{{.*}} to %arg1 step %{{.*}} iter_args(%[[N:.*]] = %{{.*}}) -> (index)
// CHECK: %[[LATE:.*]] = arith.cmpi sge, %[[N]], %c8
// CHECK: %[[PERIOD:.*]] = arith.remsi %[[N]], %c4
// CHECK: scf.if
// CHECK-NEXT: arith.constant 1
// CHECK-NEXT: pto.cross_wait <PIPE_S>
// CHECK: arith.remsi %[[N]], %c8
// CHECK: %[[SLOT:.*]] = pto.slot_ptr %arg0
// CHECK: pto.make_tensor_view %[[SLOT]]
// CHECK: pto.tstore
// CHECK: pto.cross_set <PIPE_FIX>, 2, %c0
// CHECK: scf.yield
// At the end unused free-slot signals are consumed.
// CHECK: scf.for
// CHECK: pto.cross_wait <PIPE_S>
func.func @producer(%gm: !pto.ptr<f32>, %count: index) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0 : i32
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  %a = pto.alloc_tile : !A
  scf.for %i = %c0 to %count step %c1 {
    pto.tpush(%a, %q : !A, !pto.pipe) {split = 1}
  }
  return
}

// Each vector core loads its half of the rows into alternating buffers.
// CHECK-LABEL: func.func @consumer
// CHECK: scf.for {{.*}} iter_args(%[[POPPED:.*]] = %{{.*}}, %[[FREED:.*]] = %{{.*}}) -> (index, index)
// CHECK: pto.cross_wait <PIPE_S>
// CHECK: arith.remsi %[[POPPED]], %c2
// CHECK: %[[TILE:.*]] = pto.alloc_tile addr = %{{.*}} {pto.buffers = 2 : i64, pto.ring = array<i64: 256, 4096>}
// CHECK: %[[LANE:.*]] = pto.get_subblock_idx
// CHECK: pto.tload {{.*}} outs(%[[TILE]]
// CHECK: pto.tabs ins(%[[TILE]]
// CHECK: arith.remsi %{{.*}}, %c4
// CHECK: scf.if
// CHECK: pto.cross_set <PIPE_MTE2>, 2, %c1
func.func @consumer(%gm: !pto.ptr<f32>, %count: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = pto.reserve_buffer {name = "q", size = 4096, location = #pto.address_space<vec>, auto = false, base = 256} -> i32
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8, local_slot_num = 2, flag_base = 0} (%gm : !pto.ptr<f32>, %b : i32) -> !pto.pipe
  %v = pto.alloc_tile : !V
  scf.for %i = %c0 to %count step %c1 {
    %t = pto.declare_tile -> !V
    pto.tpop(%t, %q : !V, !pto.pipe) {split = 1}
    pto.tabs ins(%t : !V) outs(%v : !V)
    pto.tfree(%q : !pto.pipe) {split = 1}
  }
  return
}

// Parts that differ by one: the second begins behind the first one's box, and each core loads as many rows as it has.
// CHECK-LABEL: func.func @uneven
// CHECK-SAME: %{{.*}}: !pto.ptr<f32>, %[[ROWS:.*]]: index
// CHECK: %[[HELD:.*]] = pto.alloc_tile addr = %{{.*}} valid_row = %[[ROWS]]
// CHECK: %[[LANE:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: %[[ROW:.*]] = arith.muli %[[LANE]], %c9
// CHECK: pto.make_tensor_view {{.*}} : !pto.tensor_view<17x32xf32>
// CHECK: pto.partition_view %{{.*}}, offsets = [%[[ROW]], %{{.*}}], sizes = [%[[ROWS]], %{{.*}}]
// CHECK-SAME: !pto.partition_tensor_view<?x32xf32>
// CHECK: pto.tload {{.*}} outs(%[[HELD]]
func.func @uneven(%gm: !pto.ptr<f32>, %rows: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c32 = arith.constant 32 : index
  %z = arith.constant 0 : i32
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 2176, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  %t = pto.declare_tile -> !pto.tile_buf<vec, 9x32xf32, valid=?x?>
  pto.tpop(%t, %q : !pto.tile_buf<vec, 9x32xf32, valid=?x?>, !pto.pipe) {split = 3}
  pto.set_validshape %t, %rows, %c32 : !pto.tile_buf<vec, 9x32xf32, valid=?x?>
  pto.texp ins(%t : !pto.tile_buf<vec, 9x32xf32, valid=?x?>) outs(%t : !pto.tile_buf<vec, 9x32xf32, valid=?x?>)
  pto.tfree(%q : !pto.pipe) {split = 3}
  return
}

// Direct transfers: the cube core waits for a free slot, moves halves into the vector cores' slots and sets a flag on each core; they wait on MTE2, the
// producer of the tile, and release the slot when all readers of the ring are done.
module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @direct_push
  // CHECK: %[[TO:.*]] = pto.alloc_tile addr = %{{.*}} : !pto.tile_buf<vec, 8x16xf32>
  // CHECK: pto.tmov ins(%{{.*}}) outs(%[[TO]] : {{.*}}) {accToVecMode = #pto.acc_to_vec_mode<dual_mode_split_m>}
  // CHECK: pto.cross_set <PIPE_FIX>, 3, %c0
  // CHECK: pto.cross_set <PIPE_FIX>, 3, %c16
  func.func @direct_push() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %z = arith.constant 256 : i32
    %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0} (%z : i32) -> !pto.pipe
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush(%a, %q : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>, !pto.pipe) {split = 1}
    return
  }
  // CHECK-LABEL: func.func @direct_pop
  // CHECK: pto.cross_wait <PIPE_MTE2>, %c0
  // CHECK: %[[T:.*]] = pto.alloc_tile addr = %{{.*}} {pto.ring = array<i64: 256, 8192>} : !pto.tile_buf<vec, 8x16xf32>
  // CHECK-NEXT: pto.slot_ready %[[T]]
  // CHECK: pto.texp ins(%[[T]]
  // CHECK-NOT: pto.cross_set
  func.func @direct_pop() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 256 : i32
    %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0} (%z : i32) -> !pto.pipe
    %t = pto.declare_tile -> !pto.tile_buf<vec, 8x16xf32>
    pto.tpop(%t, %q : !pto.tile_buf<vec, 8x16xf32>, !pto.pipe) {split = 1}
    pto.texp ins(%t : !pto.tile_buf<vec, 8x16xf32>) outs(%t : !pto.tile_buf<vec, 8x16xf32>)
    pto.tfree(%q : !pto.pipe) {split = 1}
    return
  }
  // CHECK-LABEL: func.func @direct_loop
  // CHECK: scf.if
  // CHECK: pto.slot_done
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: pto.cross_set <PIPE_MTE2>, 3
  func.func @direct_loop(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 256 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0} (%z : i32) -> !pto.pipe
    scf.for %i = %c0 to %n step %c1 {
      %t = pto.declare_tile -> !pto.tile_buf<vec, 8x16xf32>
      pto.tpop(%t, %q : !pto.tile_buf<vec, 8x16xf32>, !pto.pipe) {split = 1}
      pto.texp ins(%t : !pto.tile_buf<vec, 8x16xf32>) outs(%t : !pto.tile_buf<vec, 8x16xf32>)
      pto.tfree(%q : !pto.pipe) {split = 1}
    }
    return
  }
}

// The buffer's address is an argument: a slot is at that address plus a multiple of the tile size.
// CHECK-LABEL: func.func @somewhere
// CHECK: %[[BASE:.*]] = arith.index_cast %arg1 : i32 to index
// CHECK-NEXT: arith.addi %[[BASE]], %c0
// CHECK: pto.alloc_tile addr = %{{.*}} : !pto.tile_buf<vec, 8x16xf32>
func.func @somewhere(%gm: !pto.ptr<f32>, %local: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %local : i32) -> !pto.pipe
  %t = pto.declare_tile -> !pto.tile_buf<vec, 8x16xf32>
  pto.tpop(%t, %q : !pto.tile_buf<vec, 8x16xf32>, !pto.pipe) {split = 1}
  pto.texp ins(%t : !pto.tile_buf<vec, 8x16xf32>) outs(%t : !pto.tile_buf<vec, 8x16xf32>)
  return
}

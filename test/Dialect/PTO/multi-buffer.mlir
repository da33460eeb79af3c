// RUN: pto-opt %s -split-input-file -pto-multi-buffer | FileCheck %s

// A tile between two engines is doubled; tiles used only by V, read before they are written in a trip, or outside any loop are not.
// CHECK-LABEL: func.func @which
func.func @which(%g: !pto.partition_tensor_view<8x8xf32>, %o: !pto.partition_tensor_view<8x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[SUM:.*]] = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
  %sum = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: pto.alloc_tile {pto.buffers = 2 : i32} : !pto.tile_buf<vec, 8x8xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    %u = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    %w = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    pto.tload ins(%g : !pto.partition_tensor_view<8x8xf32>) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
    pto.tabs ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%u : !pto.tile_buf<vec, 8x8xf32>)
    pto.tadd ins(%w, %u : !pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 8x8xf32>) outs(%w : !pto.tile_buf<vec, 8x8xf32>)
    pto.tstore ins(%w : !pto.tile_buf<vec, 8x8xf32>) outs(%o : !pto.partition_tensor_view<8x8xf32>)
    pto.tadd ins(%sum, %u : !pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 8x8xf32>) outs(%sum : !pto.tile_buf<vec, 8x8xf32>)
  }
  return
}

// -----

// Two tiles of 64 KiB: neither can be doubled in 184 KiB.
// CHECK-LABEL: func.func @what_fits
func.func @what_fits(%g: !pto.partition_tensor_view<128x128xf32>, %o: !pto.partition_tensor_view<128x128xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 128x128xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 128x128xf32>
    // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 128x128xf32>
    %u = pto.alloc_tile : !pto.tile_buf<vec, 128x128xf32>
    pto.tload ins(%g : !pto.partition_tensor_view<128x128xf32>) outs(%t : !pto.tile_buf<vec, 128x128xf32>)
    pto.tabs ins(%t : !pto.tile_buf<vec, 128x128xf32>) outs(%u : !pto.tile_buf<vec, 128x128xf32>)
    pto.tstore ins(%u : !pto.tile_buf<vec, 128x128xf32>) outs(%o : !pto.partition_tensor_view<128x128xf32>)
  }
  return
}

// -----

// Two tiles of 48 KiB, of which one can be doubled: that of the inner loop, which is loaded more often.
// CHECK-LABEL: func.func @inner_first
func.func @inner_first(%g: !pto.partition_tensor_view<96x128xf32>, %o: !pto.partition_tensor_view<96x128xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 96x128xf32>
    %held = pto.alloc_tile : !pto.tile_buf<vec, 96x128xf32>
    pto.tload ins(%g : !pto.partition_tensor_view<96x128xf32>) outs(%held : !pto.tile_buf<vec, 96x128xf32>)
    scf.for %j = %c0 to %n step %c1 {
      // CHECK: pto.alloc_tile {pto.buffers = 2 : i32} : !pto.tile_buf<vec, 96x128xf32>
      %t = pto.alloc_tile : !pto.tile_buf<vec, 96x128xf32>
      pto.tload ins(%g : !pto.partition_tensor_view<96x128xf32>) outs(%t : !pto.tile_buf<vec, 96x128xf32>)
      pto.tstore ins(%t : !pto.tile_buf<vec, 96x128xf32>) outs(%o : !pto.partition_tensor_view<96x128xf32>)
    }
    pto.tstore ins(%held : !pto.tile_buf<vec, 96x128xf32>) outs(%o : !pto.partition_tensor_view<96x128xf32>)
  }
  return
}

// -----

// A loop with one trip does not profit.
// CHECK-LABEL: func.func @one_trip
func.func @one_trip(%g: !pto.partition_tensor_view<8x8xf32>, %o: !pto.partition_tensor_view<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    pto.tload ins(%g : !pto.partition_tensor_view<8x8xf32>) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
    pto.tstore ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%o : !pto.partition_tensor_view<8x8xf32>)
  }
  return
}

// -----

// Hand-written synchronisation is not changed: its flags do not distinguish halves.
// CHECK-LABEL: func.func @flags_of_its_own
// CHECK-NOT: pto.buffers
func.func @flags_of_its_own(%g: !pto.partition_tensor_view<8x8xf32>, %o: !pto.partition_tensor_view<8x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    pto.tload ins(%g : !pto.partition_tensor_view<8x8xf32>) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
    pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%o : !pto.partition_tensor_view<8x8xf32>)
    pto.barrier <PIPE_ALL>
  }
  return
}

// -----

// Queues whose tiles arrive in reserved buffers leave the other tiles to the pass; the buffer's bytes are taken.
!G = !pto.partition_tensor_view<8x8xf32>
!V = !pto.tile_buf<vec, 8x8xf32>
!T = !pto.tile_buf<vec, 128x128xf32>
// CHECK-LABEL: func.func @with_a_queue
func.func @with_a_queue(%g: !G, %w: !pto.partition_tensor_view<128x128xf32>, %gm: !pto.ptr<f32>, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = pto.reserve_buffer {name = "q", size = 98304, location = #pto.address_space<vec>, auto = true} -> i32
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %b : i32) -> !pto.pipe
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: pto.alloc_tile {pto.buffers = 2 : i32} : !pto.tile_buf<vec, 8x8xf32>
    // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 128x128xf32>
    %t = pto.alloc_tile : !V
    %u = pto.alloc_tile : !T
    pto.tload ins(%g : !G) outs(%t : !V)
    pto.tstore ins(%t : !V) outs(%g : !G)
    pto.tload ins(%w : !pto.partition_tensor_view<128x128xf32>) outs(%u : !T)
    pto.tstore ins(%u : !T) outs(%w : !pto.partition_tensor_view<128x128xf32>)
  }
  return
}

// A queue at an address of the program's own: where its tiles lie is not known here.
// CHECK-LABEL: func.func @with_an_address
func.func @with_an_address(%g: !G, %gm: !pto.ptr<f32>, %b: i32, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %b : i32) -> !pto.pipe
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    %t = pto.alloc_tile : !V
    pto.tload ins(%g : !G) outs(%t : !V)
    pto.tstore ins(%t : !V) outs(%g : !G)
  }
  return
}

// -----

// Two rows for 24 blocks are one trip at most on each, two for one vector core of two as well; 48 are two trips.
// CHECK-LABEL: func.func @shared_trips
func.func @shared_trips(%g: !pto.partition_tensor_view<8x8xf32>, %o: !pto.partition_tensor_view<8x8xf32>) {
  %c2 = arith.constant 2 : index
  %c24 = arith.constant 24 : index
  %c48 = arith.constant 48 : index
  %block = pto.get_block_idx
  %sub = pto.get_subblock_idx
  %b = arith.index_cast %block : i64 to index
  %s = arith.index_cast %sub : i64 to index
  scf.for %i = %b to %c2 step %c24 {
    // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    pto.tload ins(%g : !pto.partition_tensor_view<8x8xf32>) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
    pto.tstore ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%o : !pto.partition_tensor_view<8x8xf32>)
    scf.for %j = %s to %c2 step %c2 {
      // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
      %u = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
      pto.tload ins(%g : !pto.partition_tensor_view<8x8xf32>) outs(%u : !pto.tile_buf<vec, 8x8xf32>)
      pto.tstore ins(%u : !pto.tile_buf<vec, 8x8xf32>) outs(%o : !pto.partition_tensor_view<8x8xf32>)
    }
  }
  scf.for %i = %b to %c48 step %c24 {
    // CHECK: pto.alloc_tile {pto.buffers = 2 : i32} : !pto.tile_buf<vec, 8x8xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    pto.tload ins(%g : !pto.partition_tensor_view<8x8xf32>) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
    pto.tstore ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%o : !pto.partition_tensor_view<8x8xf32>)
  }
  return
}

// RUN: pto-opt %s --pto-lower-pipes -split-input-file -verify-diagnostics

!A = !pto.tile_buf<acc, 32x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @large(%gm: !pto.ptr<f32>, %z: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  %a = pto.alloc_tile : !A
  // expected-error @below {{moves 8192 bytes, a slot of the queue has 4096}}
  pto.tpush(%a, %q : !A, !pto.pipe) {split = 1}
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @halves(%gm: !pto.ptr<f32>, %z: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %q = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 4096, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  %v = pto.alloc_tile : !V
  // expected-error @below {{moves 8192 bytes with both halves, a slot of the queue has 4096}}
  pto.tpush(%v, %q : !V, !pto.pipe) {split = 2}
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @wrong_way(%gm: !pto.ptr<f32>, %z: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  %v = pto.alloc_tile : !V
  // expected-error @below {{goes against the queue's direction: dir_mask is 1 and this is the vector core}}
  pto.tpush(%v, %q : !V, !pto.pipe) {split = 0}
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @small_buffer(%gm: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %b = pto.reserve_buffer {name = "q", size = 100, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8, local_slot_num = 2, flag_base = 0} (%gm : !pto.ptr<f32>, %b : i32) -> !pto.pipe
  %t = pto.declare_tile -> !V
  // expected-error @below {{needs 8192 bytes for 2 tiles, the reserved buffer "q" has 100}}
  pto.tpop(%t, %q : !V, !pto.pipe) {split = 0}
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @from_core_to_core(%z: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{opens a queue from core to core, which a3 has not; initialize_l2g2l_pipe goes through global memory}}
  %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8, flag_base = 0} (%z : i32) -> !pto.pipe
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @in_a_loop(%gm: !pto.ptr<f32>, %z: i32, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  scf.for %i = %n to %n step %n {
    // expected-error @below {{opens a queue inside of control flow; open it at the top of the function}}
    %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8, local_slot_num = 2, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  }
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @not_a_tile(%gm: !pto.ptr<f32>, %z: i32, %v: !pto.partition_tensor_view<32x32xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %q = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 4096, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  // expected-error @below {{pushes a '!pto.partition_tensor_view<32x32xf32>', only tiles have instructions}}
  pto.tpush(%v, %q : !pto.partition_tensor_view<32x32xf32>, !pto.pipe) {split = 0}
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @not_declared(%gm: !pto.ptr<f32>, %z: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  %t = pto.alloc_tile : !V
  // expected-error @below {{expects a tile of declare_tile}}
  pto.tpop(%t, %q : !V, !pto.pipe) {split = 0}
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @in_a_while(%gm: !pto.ptr<f32>, %z: i32, %c: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  // expected-error @below {{holds queue ops, which may stand in scf.for and scf.if}}
  scf.while : () -> () {
    pto.tfree(%q : !pto.pipe) {split = 0}
    scf.condition(%c)
  } do {
    scf.yield
  }
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @before_the_pop(%gm: !pto.ptr<f32>, %z: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  // expected-error @below {{is used where no tpop has filled it}}
  %t = pto.declare_tile -> !V
  pto.texp ins(%t : !V) outs(%t : !V)
  pto.tpop(%t, %q : !V, !pto.pipe) {split = 0}
  return
}

// -----

!A = !pto.tile_buf<acc, 16x16xf32, valid=5x16, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a5"} {
func.func @part_of_a_tile() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 256 : i32
  %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0} (%z : i32) -> !pto.pipe
  %a = pto.alloc_tile : !A
  // expected-error @below {{divides an odd extent, or one that is valid in part, on the way from core to core; a5 divides whole tiles in equal halves there}}
  pto.tpush(%a, %q : !A, !pto.pipe) {split = 1}
  return
}
}

// -----

!V = !pto.tile_buf<vec, 9x32xf32, valid=?x?>
func.func @uneven_parts_of_a_small_slot(%gm: !pto.ptr<f32>, %z: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 2048, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  %t = pto.declare_tile -> !V
  // expected-error @below {{moves 2176 bytes with both halves, a slot of the queue has 2048}}
  pto.tpop(%t, %q : !V, !pto.pipe) {split = 3}
  return
}

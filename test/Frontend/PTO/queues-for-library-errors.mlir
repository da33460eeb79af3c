// RUN: pto-opt %s --split-input-file --verify-diagnostics --pto-queues-for-library

!vec = !pto.tile_buf<vec, 8x16xf32>
func.func @odd(%gm: !pto.ptr<f32>, %t: !vec) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0 : i32
  %q = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  // expected-error @below {{has no C++: the library divides an odd extent through global memory and on the way to the vector cores only}}
  pto.tpush (%t, %q : !vec, !pto.pipe) {split = 3}
  return
}

// -----

func.func @small(%gm: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{has no C++: the library's queue takes 8192 bytes, not 4096}}
  %v = pto.reserve_buffer {name = "v", size = 4096, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %v : i32) -> !pto.pipe
  return
}

// -----

module attributes {pto.target_arch = "a5"} {
  func.func @both_ways(%gm: !pto.ptr<f32>, %whole: !pto.tile_buf<vec, 16x16xf32>, %half: !pto.tile_buf<vec, 8x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i32
    %p = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
    // expected-error @below {{has no C++: the library gives whole tiles to the first vector core only, and this function takes halves, too}}
    %q = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 8, local_slot_num = 8, flag_base = 2} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
    pto.tpush (%whole, %p : !pto.tile_buf<vec, 16x16xf32>, !pto.pipe) {split = 0}
    pto.tpush (%half, %q : !pto.tile_buf<vec, 8x16xf32>, !pto.pipe) {split = 1}
    return
  }
}

// -----

func.func @unplaced(%gm: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{has no C++: pto-place-reserved has to come first}}
  %v = pto.reserve_buffer {name = "v", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 8, flag_base = 0} (%gm : !pto.ptr<f32>, %v : i32) -> !pto.pipe
  return
}

// RUN: pto-opt %s -pto-check-queues -split-input-file -verify-diagnostics

func.func @no_base(%b: i32) {
  // expected-error @below {{needs a flag_base, because its local address is of no reserved buffer}}
  %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8} (%b : i32) -> !pto.pipe
  return
}

// -----

func.func @alone() {
  %b = pto.reserve_buffer {name = "q", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
  // expected-error @below {{has no other side: nothing else opens a queue on its reserved buffer}}
  %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8} (%b : i32) -> !pto.pipe
  return
}

// -----

!A = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %b = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
  // expected-error @below {{is used with split 0 and with another split}}
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32, v2c_consumer_buf = %b : i32)
  %a = pto.alloc_tile : !A
  pto.tpush_to_aiv (%a : !A) {split = 1}
  return
}
func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %b = pto.reserve_buffer {name = "q", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32, v2c_consumer_buf = %b : i32)
  pto.tfree_from_aic {split = 0}
  return
}

// -----

func.func @whole() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0 : i32
  // expected-error @below {{says nosplit = false, but tiles are pushed or popped with split 0}}
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = false} (c2v_consumer_buf = %z : i32, v2c_consumer_buf = %z : i32)
  pto.tfree_from_aic {split = 0}
  return
}

// -----

func.func @halves() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0 : i32
  // expected-error @below {{says nosplit = true, but tiles are split}}
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true} (c2v_consumer_buf = %z : i32, v2c_consumer_buf = %z : i32)
  pto.tfree_from_aic {split = 2}
  return
}

// -----

func.func @one() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %b = pto.import_reserved_buffer {name = "q", peer_func = @other} -> i32
  %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0, nosplit = true} (%b : i32) -> !pto.pipe
  return
}
func.func @other() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %b = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  // expected-error @below {{says another nosplit than its other side}}
  %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0, nosplit = false} (%b : i32) -> !pto.pipe
  return
}

// -----

module attributes {pto.target_arch = "a3"} {
  func.func @no_way() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %z = arith.constant 0 : i32
    // expected-error @below {{needs a gm_slot_buffer on a3, which has no way from core to core}}
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %z : i32, v2c_consumer_buf = %z : i32)
    return
  }
}

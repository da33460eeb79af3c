// RUN: pto-opt %s --pto-join-cores -split-input-file -verify-diagnostics

!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @no_queue(%v: !V) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @below {{stands where no queue is open; the function needs an initialize_pipe op before it}}
    pto.tpush_to_aic (%v : !V) {split = 0}
    return
  }
}

// -----

func.func @flags(%gm: !pto.ptr<f32>, %z: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{needs cross-core flags up to 16, there are 0 to 15}}
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8, local_slot_num = 8, flag_base = 15} (%gm : !pto.ptr<f32>, %z : i32) -> !pto.pipe
  return
}

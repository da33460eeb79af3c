// RUN: pto-opt %s --pto-join-cores | FileCheck %s

// Two functions that share a queue's buffer become one kernel; a function that takes the first arguments of the other only gets the rest. Queues keep the
// names of their buffers, which their functions may drop.
module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @cube(%arg0: !pto.ptr<f32>, %arg1: i32)
  // CHECK: pto.initialize_l2l_pipe{{ ?}}{dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0} (%{{.*}} : i32) {pto.buffer_names = ["vector/q", ""]} -> !pto.pipe
  // CHECK: pto.tpush(
  func.func @cube(%p: !pto.ptr<f32>, %n: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %z = arith.constant 0 : i32
    %b = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32, v2c_consumer_buf = %z : i32)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush_to_aiv (%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 1}
    return
  }
  // CHECK-LABEL: func.func @vector(%arg0: !pto.ptr<f32>, %arg1: i32) attributes {{.*}}pto.part_of = "cube"
  // CHECK: pto.reserve_buffer{{.*}}pto.buffer_names = ["vector/q"]
  // CHECK: pto.tpop(
  func.func private @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i32
    %b = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32, v2c_consumer_buf = %z : i32)
    %t = pto.tpop_from_aic {split = 1} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 1}
    return
  }
}

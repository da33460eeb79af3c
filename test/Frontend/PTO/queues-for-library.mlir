// RUN: pto-opt %s --pto-queues-for-library | FileCheck %s

// Reserved buffers are numbers, each side of a queue has the same flags, and the functions no longer name each other.
module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @cube
  // CHECK-DAG: %[[V:.*]] = arith.constant 512 : i32
  // CHECK-DAG: %[[M:.*]] = arith.constant 1024 : i32
  // CHECK-DAG: pto.initialize_l2l_pipe{{ ?}}{dir_mask = 2, slot_size = 1024, slot_num = 8, flag_base = 0, nosplit = false} (%[[M]] : i32)
  // CHECK-DAG: pto.initialize_l2l_pipe{{ ?}}{dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 2, nosplit = false} (%[[V]] : i32)
  // CHECK-NOT: reserve
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %z = arith.constant 0 : i32
    %m = pto.reserve_buffer {name = "m", size = 8192, location = #pto.address_space<mat>, auto = false, base = 1024} -> i32
    %v = pto.import_reserved_buffer {name = "v", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {dir_mask = 2, slot_size = 1024} (c2v_consumer_buf = %z : i32, v2c_consumer_buf = %m : i32)
    pto.aic_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %v : i32, v2c_consumer_buf = %z : i32)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush_to_aiv (%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {id = 1, split = 1}
    return
  }
  // CHECK-LABEL: func.func @vector
  // CHECK-DAG: flag_base = 0, nosplit = false} (%{{.*}} : i32)
  // CHECK-DAG: flag_base = 2, nosplit = false} (%{{.*}} : i32)
  // CHECK-NOT: scf.if
  // CHECK: pto.tpop
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i32
    %v = pto.reserve_buffer {name = "v", size = 8192, location = #pto.address_space<vec>, auto = false, base = 512} -> i32
    %m = pto.import_reserved_buffer {name = "m", peer_func = @cube} -> i32
    pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 1024} (c2v_consumer_buf = %z : i32, v2c_consumer_buf = %m : i32)
    pto.aiv_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %v : i32, v2c_consumer_buf = %z : i32)
    %t = pto.tpop_from_aic {id = 1, split = 1} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {id = 1, split = 1}
    return
  }
}

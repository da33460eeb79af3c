// RUN: pto-opt %s --pto-join-cores | FileCheck %s

// Queues of one function have flags of their own, in the order of their ids: the same on both sides. A queue through
// global memory may have fewer places in the consumer's buffer than slots.
module attributes {pto.target_arch = "a3"} {
  // CHECK-LABEL: func.func @cube
  // CHECK-DAG: dir_mask = 3, slot_size = 1024, slot_num = 4, local_slot_num = 2, flag_base = 0}
  // CHECK-DAG: dir_mask = 2, slot_size = 1024, slot_num = 8, local_slot_num = 8, flag_base = 4}
  // CHECK-DAG: dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 1, flag_base = 6}
  func.func @cube(%p: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %z = arith.constant 0 : i32
    %last = pto.import_reserved_buffer {name = "last", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {id = 9, dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %last : i32, v2c_consumer_buf = %z : i32) {local_slot_num = 1 : i32}
    %to = pto.import_reserved_buffer {name = "to", peer_func = @vector} -> i32
    %from = pto.reserve_buffer {name = "from", size = 2048, location = #pto.address_space<mat>, auto = true} -> i32
    pto.aic_initialize_pipe {id = 0, dir_mask = 3, slot_size = 1024} (gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %to : i32, v2c_consumer_buf = %from : i32) {local_slot_num = 2 : i32}
    %more = pto.reserve_buffer {name = "more", size = 8192, location = #pto.address_space<mat>, auto = true} -> i32
    pto.aic_initialize_pipe {id = 4, dir_mask = 2, slot_size = 1024} (gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %z : i32, v2c_consumer_buf = %more : i32)
    return
  }
  // CHECK-LABEL: func.func @vector
  // CHECK-DAG: dir_mask = 3, slot_size = 1024, slot_num = 4, local_slot_num = 2, flag_base = 0}
  // CHECK-DAG: dir_mask = 2, slot_size = 1024, slot_num = 8, local_slot_num = 8, flag_base = 4}
  // CHECK-DAG: dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 1, flag_base = 6}
  func.func private @vector(%p: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i32
    %to = pto.reserve_buffer {name = "to", size = 2048, location = #pto.address_space<vec>, auto = true} -> i32
    %from = pto.import_reserved_buffer {name = "from", peer_func = @cube} -> i32
    pto.aiv_initialize_pipe {id = 0, dir_mask = 3, slot_size = 1024} (gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %to : i32, v2c_consumer_buf = %from : i32) {local_slot_num = 2 : i32}
    %more = pto.import_reserved_buffer {name = "more", peer_func = @cube} -> i32
    pto.aiv_initialize_pipe {id = 4, dir_mask = 2, slot_size = 1024} (gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %z : i32, v2c_consumer_buf = %more : i32)
    %last = pto.reserve_buffer {name = "last", size = 1024, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {id = 9, dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %last : i32, v2c_consumer_buf = %z : i32) {local_slot_num = 1 : i32}
    return
  }
}

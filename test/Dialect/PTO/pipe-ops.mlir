// Every form of these ops parses, verifies and round-trips.
// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s
// RUN: pto-opt %s -mlir-print-op-generic | pto-opt | FileCheck %s

!A = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!M = !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>
!V = !pto.tile_buf<vec, 16x16xf32>
!D = !pto.tile_buf<vec, 16x16xf32, valid=?x?>

// CHECK-LABEL: func.func @vector_side
func.func @vector_side(%gm: !pto.ptr<f32>, %n: index, %v: !V) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0 : i32
  // CHECK: %[[BUF:.*]] = pto.reserve_buffer{{ ?}}{name = "q", size = 8192, location = <vec>, auto = false, base = 512} -> i32
  %buf = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = false, base = 512} -> i32
  // CHECK: pto.aiv_initialize_pipe{{ ?}}{{[{] ?}}dir_mask = 3, slot_size = 1024, nosplit = true}{{ ?}}({{ ?}}gm_slot_buffer = %{{.*}} : !pto.ptr<f32>, c2v_consumer_buf = %[[BUF]] : i32, v2c_consumer_buf = %{{.*}} : i32)
  pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 1024, nosplit = true} (gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %buf : i32, v2c_consumer_buf = %z : i32)
  // CHECK: pto.tpop_from_aic{{ ?}}{{[{] ?}}split = 0} -> !pto.tile_buf<vec, 16x16xf32>
  %t = pto.tpop_from_aic {split = 0} -> !V
  // CHECK: pto.tpop_from_aic{{ ?}}(%{{.*}}, %{{.*}}) {{[{] ?}}split = 0} -> !pto.tile_buf<vec, 16x16xf32, valid=?x?>
  %d = pto.tpop_from_aic (%n, %n) {split = 0} -> !D
  // CHECK: pto.tpush_to_aic{{ ?}}(%{{.*}} : !pto.tile_buf<vec, 16x16xf32>) {{[{] ?}}split = 0}
  pto.tpush_to_aic (%v : !V) {split = 0}
  // CHECK: pto.tfree_from_aic{{ ?}}{{[{] ?}}split = 0}
  pto.tfree_from_aic {split = 0}
  return
}

// CHECK-LABEL: func.func @cube_side
func.func @cube_side(%a: !A) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0 : i32
  // CHECK: pto.import_reserved_buffer{{ ?}}{name = "q", peer_func = @vector_side} -> i32
  %peer = pto.import_reserved_buffer {name = "q", peer_func = @vector_side} -> i32
  // CHECK: pto.aic_initialize_pipe{{ ?}}{{[{] ?}}dir_mask = 1, slot_size = 1024}{{ ?}}({{ ?}}c2v_consumer_buf = %{{.*}} : i32, v2c_consumer_buf = %{{.*}} : i32)
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %peer : i32, v2c_consumer_buf = %z : i32)
  // CHECK: pto.tpush_to_aiv{{ ?}}(%{{.*}} : !pto.tile_buf<acc, {{.*}}>) {{[{] ?}}split = 1}
  pto.tpush_to_aiv (%a : !A) {split = 1}
  // CHECK: pto.tpop_from_aiv{{ ?}}{{[{] ?}}split = 1} -> !pto.tile_buf<mat
  %m = pto.tpop_from_aiv {split = 1} -> !M
  // CHECK: pto.tfree_from_aiv{{ ?}}{{[{] ?}}split = 1}
  pto.tfree_from_aiv {split = 1}
  return
}

// CHECK-LABEL: func.func @queues
func.func @queues(%gm: !pto.ptr<f32>, %b: i32, %v: !V, %bytes: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: pto.initialize_l2l_pipe{{ ?}}{dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0}{{ ?}}({{ ?}}%{{.*}} : i32) -> !pto.pipe
  %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0} (%b : i32) -> !pto.pipe
  // CHECK: pto.initialize_l2g2l_pipe{{ ?}}{dir_mask = 3, slot_size = 1024, slot_num = 4, local_slot_num = 4, flag_base = 0, nosplit = true}{{ ?}}({{ ?}}%{{.*}} : !pto.ptr<f32>, %{{.*}} : i32, %{{.*}} : i32) -> !pto.pipe
  %g = pto.initialize_l2g2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 4, local_slot_num = 4, flag_base = 0, nosplit = true} (%gm : !pto.ptr<f32>, %b : i32, %b : i32) -> !pto.pipe
  // CHECK: pto.tpush(%{{.*}}, %{{.*}} : !pto.tile_buf<vec, 16x16xf32>, !pto.pipe) {split = 0}
  pto.tpush(%v, %q : !V, !pto.pipe) {split = 0}
  %t = pto.declare_tile -> !V
  // CHECK: pto.tpop(%{{.*}}, %{{.*}} : !pto.tile_buf<vec, 16x16xf32>, !pto.pipe) {split = 0}
  pto.tpop(%t, %g : !V, !pto.pipe) {split = 0}
  // CHECK: pto.tfree(%{{.*}} : !pto.pipe) {split = 0}
  pto.tfree(%g : !pto.pipe) {split = 0}
  // CHECK: pto.slot_ptr %{{.*}}[%{{.*}}] : !pto.ptr<f32> -> !pto.ptr<f16>
  %slot = pto.slot_ptr %gm[%bytes] : !pto.ptr<f32> -> !pto.ptr<f16>
  // CHECK: pto.slot_ready %{{.*}} : !pto.tile_buf<vec
  pto.slot_ready %t : !V
  // CHECK: pto.slot_done %{{.*}} : !pto.tile_buf<vec
  pto.slot_done %t : !V
  return
}

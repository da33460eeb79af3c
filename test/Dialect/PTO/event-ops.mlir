// Every form of these ops parses, verifies and round-trips.
// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s
// RUN: pto-opt %s -mlir-print-op-generic | pto-opt | FileCheck %s

// CHECK-LABEL: func.func @events
func.func @events(%v: !pto.tile_buf<vec, 32x32xf32>, %x: index, %ffts: memref<64xi64>) {
  // CHECK: pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.sync_op_type<TVEC>, <EVENT_ID1>]
  pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.sync_op_type<TVEC>, <EVENT_ID1>]
  // CHECK: pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID1>]
  pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, #pto.event<EVENT_ID1>]
  // CHECK: pto.barrier_sync[<TVEC>]
  pto.barrier_sync[<TVEC>]
  // CHECK: pto.get_buf[#pto.pipe_event_type<TLOAD>, 3] {mode = 1 : i32}
  pto.get_buf[#pto.pipe_event_type<TLOAD>, 3] {mode = 1 : i32}
  // CHECK: pto.rls_buf[#pto.pipe_event_type<TLOAD>, 3]
  pto.rls_buf[#pto.pipe_event_type<TLOAD>, 3]
  // CHECK: pto.set_ffts %{{.*}} : memref<64xi64>
  pto.set_ffts %ffts : memref<64xi64>
  // CHECK: pto.sync.set <PIPE_MTE3>, 3
  pto.sync.set <PIPE_MTE3>, 3
  // CHECK: pto.sync.set <PIPE_FIX>, %{{.*}} {ffts_mode = 2 : i32}
  pto.sync.set #pto.pipe<PIPE_FIX>, %x {ffts_mode = 2 : i32}
  // CHECK: pto.sync.wait <PIPE_V>, 3
  pto.sync.wait <PIPE_V>, 3
  // CHECK: pto.sync.wait <PIPE_V>, %
  pto.sync.wait <PIPE_V>, %x
  // CHECK: pto.cross_set <PIPE_FIX>, 2, %{{.*}}
  pto.cross_set <PIPE_FIX>, 2, %x
  // CHECK: pto.cross_wait <PIPE_S>, %{{.*}}
  pto.cross_wait <PIPE_S>, %x
  // CHECK: pto.tsync ins(%{{.*}}, %{{.*}} : !pto.tile_buf<vec, 32x32xf32>, !pto.tile_buf<vec, 32x32xf32>)
  pto.tsync ins(%v, %v : !pto.tile_buf<vec, 32x32xf32>, !pto.tile_buf<vec, 32x32xf32>)
  // CHECK: %[[ARRAY:.*]] = pto.declare_eventid_array -> !pto.eventid_array<4>
  %a = pto.declare_eventid_array -> !pto.eventid_array<4>
  // CHECK: pto.eventid_array_set %[[ARRAY]][%{{.*}}], %{{.*}} : !pto.eventid_array<4>
  pto.eventid_array_set %a[%x], %x : !pto.eventid_array<4>
  // CHECK: pto.eventid_array_get %[[ARRAY]][%{{.*}}] : !pto.eventid_array<4>
  %id = pto.eventid_array_get %a[%x] : !pto.eventid_array<4>
  pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %id]
  return
}

// CHECK: func.func private @types(!pto.tile<16x16xf32>) attributes {a = #pto.module_core_type<MIX>, b = #pto.vector_function}
func.func private @types(!pto.tile<16x16xf32>) attributes {a = #pto.module_core_type<MIX>, b = #pto.vector_function}

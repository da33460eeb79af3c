// RUN: pto-opt %s -pto-lower-events | FileCheck %s
// RUN: not pto-opt %s -pto-slice-engines 2>&1 | FileCheck %s --check-prefix=BAD

// t7 (test/isa/TestArchs.td) has no MTE3, MTE2 carries out its ops: named events follow, flags set by hand are refused.

module attributes {pto.target_arch = "t7"} {
// CHECK-LABEL: func.func @events
func.func @events() {
  // CHECK-NEXT: pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID2>]
  // CHECK-NEXT: pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID2>]
  // CHECK-NEXT: return
  pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TSTORE_VEC>, <EVENT_ID1>]
  pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TSTORE_VEC>, <EVENT_ID1>]
  pto.record_event[#pto.pipe_event_type<TVEC>, #pto.pipe_event_type<TSTORE_VEC>, <EVENT_ID2>]
  pto.wait_event[#pto.pipe_event_type<TVEC>, #pto.pipe_event_type<TSTORE_VEC>, <EVENT_ID2>]
  return
}
// BAD: names PIPE_MTE3, which t7 lacks; PIPE_MTE2 carries out its ops, name that one
func.func @flags() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.set_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]
  return
}
}

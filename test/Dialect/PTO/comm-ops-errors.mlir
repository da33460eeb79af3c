// RUN: pto-opt %s -split-input-file -verify-diagnostics

func.func @float_cell(%cell: !pto.partition_tensor_view<1xf32>, %x: i32) {
  // expected-error @below {{does not work on 'f32' on a3; expects one of i32}}
  pto.comm.tnotify(%cell, %x : !pto.partition_tensor_view<1xf32>, i32)
  return
}

// -----

func.func @several_cells(%cell: !pto.partition_tensor_view<2x1xi32>, %x: i32) {
  // expected-error @below {{expects a cell of one element, got '!pto.partition_tensor_view<2x1xi32>'}}
  pto.comm.twait(%cell, %x : !pto.partition_tensor_view<2x1xi32>, i32)
  return
}

// -----

func.func @tile(%cell: !pto.tile_buf<vec, 1x8xi32>, %x: i32) {
  // expected-error @below {{expects a cell that is a partition_tensor_view, got '!pto.tile_buf<}}
  pto.comm.twait(%cell, %x : !pto.tile_buf<vec, 1x8xi32>, i32)
  return
}

// RUN: pto-opt %s -pto-plan-local-memory -pto-place-reserved | FileCheck %s

!V = !pto.tile_buf<vec, 16x20xf32>
// CHECK-LABEL: func.func @beside
func.func @beside() {
  // A tile of 16 rows of 96 bytes (80 rounded up to 32): the next multiple of 256 is 1536.
  // CHECK: pto.reserve_buffer{{ ?}}{name = "q", size = 8192, location = <vec>, auto = false, base = 1536}
  %b = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  %t = pto.alloc_tile : !V
  pto.tabs ins(%t : !V) outs(%t : !V)
  return
}

// CHECK-LABEL: func.func @other_memory
func.func @other_memory() {
  // CHECK: location = <mat>, auto = false, base = 0}
  %b = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<mat>, auto = true} -> i32
  %t = pto.alloc_tile : !V
  pto.tabs ins(%t : !V) outs(%t : !V)
  return
}

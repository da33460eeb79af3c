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

!T = !pto.tile_buf<vec, 128x128xf32>
// Tiles of 64 KiB share memory where both would fit, since the reserved 96 KiB would not fit beside them.
// CHECK-LABEL: func.func @leaves_room
func.func @leaves_room(%g: !pto.partition_tensor_view<128x128xf32>) {
  // CHECK: size = 98304, location = <vec>, auto = false, base = 65536}
  %r = pto.reserve_buffer {name = "q", size = 98304, location = #pto.address_space<vec>, auto = true} -> i32
  // CHECK-COUNT-2: arith.constant 0 : i64
  // CHECK-NOT: arith.constant 65536 : i64
  %a = pto.alloc_tile : !T
  %b = pto.alloc_tile : !T
  pto.tload ins(%g : !pto.partition_tensor_view<128x128xf32>) outs(%a : !T)
  pto.tstore ins(%a : !T) outs(%g : !pto.partition_tensor_view<128x128xf32>)
  pto.tload ins(%g : !pto.partition_tensor_view<128x128xf32>) outs(%b : !T)
  pto.tstore ins(%b : !T) outs(%g : !pto.partition_tensor_view<128x128xf32>)
  return
}

// Tiles are placed around a buffer that has its address.
// CHECK-LABEL: func.func @around
func.func @around() {
  // CHECK: auto = false, base = 1024}
  %r = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = false, base = 1024} -> i32
  // CHECK: %[[A:.*]] = arith.constant 9216 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[A]]
  %t = pto.alloc_tile : !V
  pto.tabs ins(%t : !V) outs(%t : !V)
  return
}

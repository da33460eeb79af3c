// RUN: pto-opt %s -split-input-file -pto-plan-local-memory -verify-diagnostics

!T = !pto.tile_buf<vec, 128x128xf32>
!M = !pto.multi_tile_buf<vec, 128x128xf32, count=4>
!G = !pto.partition_tensor_view<128x128xf32>
func.func @large(%g: !G, %slot: index) {
  // expected-error @below {{tiles need 262144 bytes of UB, which has 188416; smaller tiles or fewer of them at a time would fit}}
  // expected-note @below {{the largest tile takes 262144 bytes}}
  %m = pto.alloc_multi_tile : !M
  %t = pto.multi_tile_get %m[%slot] : !M -> !T
  pto.tload ins(%g : !G) outs(%t : !T)
  return
}

// -----

!T = !pto.tile_buf<vec, 16x64xf32>
!M = !pto.multi_tile_buf<vec, 16x64xf32, count=2>
func.func @handed(%yes: i1, %slot: index) {
  %a = pto.alloc_multi_tile : !M
  %b = pto.alloc_multi_tile : !M
  // expected-error @below {{cannot hand slots on; take a tile with pto.multi_tile_get and hand that on}}
  %m = arith.select %yes, %a, %b : !M
  %t = pto.multi_tile_get %m[%slot] : !M -> !T
  return
}

// RUN: pto-opt %s -split-input-file -pto-plan-local-memory -verify-diagnostics

func.func @ub(%g: !pto.partition_tensor_view<256x256xf32>) {
  // expected-error @+2 {{tiles need 262144 bytes of UB, which has 188416; smaller tiles or fewer of them at a time would fit}}
  // expected-note @below {{the largest tile takes 262144 bytes}}
  %t = pto.alloc_tile : !pto.tile_buf<vec, 256x256xf32>
  pto.tload ins(%g : !pto.partition_tensor_view<256x256xf32>) outs(%t : !pto.tile_buf<vec, 256x256xf32>)
  return
}

// -----

func.func @bias(%m: !pto.tile_buf<mat, 1x512xf32>) {
  // expected-error @+2 {{tiles need 2048 bytes of the bias table, which has 1024}}
  // expected-note @below {{the largest tile takes 2048 bytes}}
  %t = pto.alloc_tile : !pto.tile_buf<bias, 1x512xf32>
  pto.tmov ins(%m : !pto.tile_buf<mat, 1x512xf32>) outs(%t : !pto.tile_buf<bias, 1x512xf32>)
  return
}

// -----

!T = !pto.tile_buf<vec, 128x128xf32>
!G = !pto.partition_tensor_view<128x128xf32>
// An operand that is read again, and one that an op also reads elsewhere, keep their bytes.
func.func @read_again(%g: !G) {
  // expected-error @below {{tiles need 196608 bytes of UB, which has 188416}}
  // expected-note @below {{the largest tile takes 65536 bytes}}
  %keep = pto.alloc_tile : !T
  %a = pto.alloc_tile : !T
  %b = pto.alloc_tile : !T
  pto.tload ins(%g : !G) outs(%keep : !T)
  pto.tload ins(%g : !G) outs(%a : !T)
  pto.texp ins(%a : !T) outs(%b : !T)
  pto.tstore ins(%a : !T) outs(%g : !G)
  pto.tadd ins(%b, %keep : !T, !T) outs(%keep : !T)
  pto.tstore ins(%keep : !T) outs(%g : !G)
  return
}

// -----

!T = !pto.tile_buf<vec, 128x128xf32>
!G = !pto.partition_tensor_view<128x128xf32>
func.func @read_elsewhere(%g: !G) {
  // expected-error @below {{tiles need 196608 bytes of UB, which has 188416}}
  // expected-note @below {{the largest tile takes 65536 bytes}}
  %keep = pto.alloc_tile : !T
  %a = pto.alloc_tile : !T
  %b = pto.alloc_tile : !T
  %w = pto.treshape %a : !T -> !T
  pto.tload ins(%g : !G) outs(%keep : !T)
  pto.tload ins(%g : !G) outs(%a : !T)
  pto.tadd ins(%a, %w : !T, !T) outs(%b : !T)
  pto.tadd ins(%b, %keep : !T, !T) outs(%keep : !T)
  pto.tstore ins(%keep : !T) outs(%g : !G)
  return
}

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

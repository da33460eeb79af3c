// RUN: pto-opt %s -pto-insert-sync -verify-diagnostics

func.func @while(%t: !pto.tile_buf<vec, 8x8xf32>, %go: i1) {
  // expected-error @below {{is not understood here; kernels are made of scf.for and scf.if}}
  scf.while : () -> () {
    scf.condition(%go)
  } do {
    pto.tabs ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
    scf.yield
  }
  return
}

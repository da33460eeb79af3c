// RUN: pto-opt %s --pto-lower-barriers -verify-diagnostics

!V = !pto.tile_buf<vec, 32x32xf32>
!G = !pto.partition_tensor_view<32x32xf32>
func.func @own_flag(%v: !V, %g: !G) {
  pto.tload ins(%g : !G) outs(%v : !V)
  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID7>]
  pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID7>]
  // expected-error @below {{needs flag 7 of every pair of engines, which this function also uses by itself}}
  pto.barrier <PIPE_ALL>
  pto.texp ins(%v : !V) outs(%v : !V)
  return
}

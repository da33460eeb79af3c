// RUN: pto-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects a count of 2 to 16 slots, got 1}}
func.func private @one(!pto.multi_tile_buf<vec, 16x64xf32, count=1>)
// -----
// expected-error @below {{expects a count of 2 to 16 slots, got 17}}
func.func private @many(!pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32>, count=17>)
// -----
// expected-error @below {{expects a count of 2 to 16 slots, got 0}}
func.func private @none(!pto.multi_tile_buf<vec, 16x64xf32>)
// -----
// expected-error @below {{unknown key 'count'}}
func.func private @tile(!pto.tile_buf<vec, 16x64xf32, count=2>)
// -----
// expected-error @below {{expects valid, blayout, slayout, fractal, pad or compact, and count}}
func.func private @key(!pto.multi_tile_buf<vec, 16x64xf32, slots=2>)
// -----
// expected-error @below {{expected 'count'}}
func.func private @full(!pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32>, slots=2>)
// -----
!M = !pto.multi_tile_buf<vec, 16x64xf32, valid=?x64, count=2>
func.func @open() {
  // expected-error @below {{expects valid_row, since the valid shape}}
  %m = pto.alloc_multi_tile : !M
  return
}
// -----
!M = !pto.multi_tile_buf<vec, 16x64xf32, count=2>
func.func @static(%n: index) {
  // expected-error @below {{expects no valid_col}}
  %m = pto.alloc_multi_tile valid_col = %n : !M
  return
}
// -----
func.func @scales() {
  // expected-error @below {{expects slots in another memory than scaling}}
  %m = pto.alloc_multi_tile : !pto.multi_tile_buf<scaling, 1x64xf32, count=2>
  return
}
// -----
!M = !pto.multi_tile_buf<vec, 16x64xf32, count=2>
func.func @other(%m: !M, %i: index) {
  // expected-error @below {{expects a result of the slots' type '!pto.tile_buf<vec, 16x64xf32>', got '!pto.tile_buf<vec, 16x32xf32>'}}
  %t = pto.multi_tile_get %m[%i] : !M -> !pto.tile_buf<vec, 16x32xf32>
  return
}
// -----
!M = !pto.multi_tile_buf<vec, 16x64xf32, count=2>
func.func @outside(%m: !M) {
  %c2 = arith.constant 2 : index
  // expected-error @below {{expects a slot from 0 to 1, got 2}}
  %t = pto.multi_tile_get %m[%c2] : !M -> !pto.tile_buf<vec, 16x64xf32>
  return
}

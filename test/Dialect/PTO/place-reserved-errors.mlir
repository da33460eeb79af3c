// RUN: pto-opt %s -pto-place-reserved -verify-diagnostics

func.func @large() {
  // expected-error @below {{needs 1000000 bytes of UB beside the tiles, which would end at 1000000 of}}
  %b = pto.reserve_buffer {name = "q", size = 1000000, location = #pto.address_space<vec>, auto = true} -> i32
  return
}

// RUN: pto-opt %s -split-input-file -pto-slice-engines -verify-diagnostics

func.func @scalar(%p: !pto.ptr<f32>, %t: !pto.tile_buf<vec, 8x8xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{makes a value that engine v needs}}
  %s = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> f32
  pto.tmuls ins(%t, %s : !pto.tile_buf<vec, 8x8xf32>, f32) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
  return
}

// -----

func.func @sections() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{cannot be sliced; write one function per core kind}}
  pto.section.vector {
  }
  return
}

// -----

// expected-error @below {{a kernel returns nothing, got 1 results}}
func.func @result(%x: i64) -> i64 attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  return %x : i64
}

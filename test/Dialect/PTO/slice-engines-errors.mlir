// RUN: pto-opt %s -split-input-file -pto-slice-engines -verify-diagnostics

func.func @queue() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{makes a value that engine v needs; only numbers that engine S loads reach other engines}}
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x8xf32>
  pto.tabs ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
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

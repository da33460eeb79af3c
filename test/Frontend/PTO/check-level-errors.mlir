// RUN: pto-opt %s --pto-check-level -split-input-file -verify-diagnostics
// RUN: not pto-opt %s --pto-check-level=level=4 -split-input-file 2>&1 | FileCheck %s
// CHECK: level must be 1, 2 or 3, got 4

// expected-error @below {{a kernel needs a body, this function has none}}
func.func private @k() attributes {pto.entry}

// -----

// expected-error @below {{a kernel returns nothing, this one has 1 results}}
func.func @k(%n: i32) -> i32 attributes {pto.entry} {
  return %n : i32
}

// -----

func.func @base() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{has a base, which level 2 leaves to the planner; --level 3 takes it}}
  %q = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = false, base = 1024} -> i32
  return
}

// -----

func.func @slots(%at: i64) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{has an address, which level 2 leaves to the planner; --level 3 takes it}}
  %m = pto.alloc_multi_tile addr = %at : !pto.multi_tile_buf<vec, 16x64xf32, count=2>
  return
}

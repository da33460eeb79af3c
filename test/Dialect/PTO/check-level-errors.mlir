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

// RUN: pto-opt %s -split-input-file -pto-check-control-flow -verify-diagnostics

// expected-error @below {{has branches that cannot be made scf.if and scf.while}}
func.func @branches(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  return
^b:
  return
}

// -----

func.func @parallel(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{has no form in command streams; scf.for, scf.while and scf.if have}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
  }
  return
}

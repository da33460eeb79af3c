// RUN: not pto-opt --vm-to-bytecode %s 2>&1 | FileCheck %s
// RUN: not pto-opt --vm-to-bytecode %s --passes nothing 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not pto-opt --vm-to-bytecode 2>&1 | FileCheck %s --check-prefix=USAGE
// CHECK: error: 'arith.addi' is no op of a VM program; the passes convert-*-to-vm make them
// PASS: 'nothing' does not refer to a registered pass
// USAGE: pto-opt: error: no value for --vm-to-bytecode
func.func @main(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  return %b : i32
}

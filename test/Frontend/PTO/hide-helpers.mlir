// RUN: pto-opt %s -pto-hide-helpers | FileCheck %s

// A called function is private unless it is marked as a kernel.
// CHECK: func.func private @helper()
func.func @helper() {
  return
}
// CHECK: func.func @marked() attributes {pto.entry}
func.func @marked() attributes {pto.entry} {
  return
}
// CHECK: func.func @kernel()
func.func @kernel() {
  func.call @helper() : () -> ()
  func.call @marked() : () -> ()
  return
}

// RUN: pto-opt %s --convert-scf-to-vm | FileCheck %s
// RUN: pto-opt --vm-to-bytecode %s --target host --passes convert-scf-to-vm,convert-arith-to-vm --reuse-slots > %t.vm
// RUN: pto-run %t.vm --arg 10 | FileCheck %s --check-prefix=ANSWER
// RUN: pto-opt --vm-to-bytecode %s --target host --passes convert-scf-to-vm,convert-arith-to-vm > %t2.vm
// RUN: pto-run %t2.vm --arg 10 | FileCheck %s --check-prefix=ANSWER

// The sum of the squares below n, the number of Collatz steps from n, and the first two Fibonacci numbers above n, swapped.
// ANSWER: 285
// ANSWER-NEXT: 6
// ANSWER-NEXT: 21
// ANSWER-NEXT: 13
// CHECK-LABEL: func.func @main
func.func @main(%n: i64) -> (i64, i64, i64, i64) {
  // CHECK: vm.call @squares(%{{.*}}) : (i64) -> i64
  %s = call @squares(%n) : (i64) -> i64
  %c = call @collatz(%n) : (i64) -> i64
  %f:2 = call @fibonacci(%n) : (i64) -> (i64, i64)
  // CHECK: vm.return
  return %s, %c, %f#0, %f#1 : i64, i64, i64, i64
}

// CHECK-LABEL: func.func @squares
func.func @squares(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  // CHECK: vm.br ^bb1
  // CHECK: ^bb1(%[[I:.*]]: i64, %{{.*}}: i64):
  // CHECK: vm.cond_br %{{.*}}, ^bb2, ^bb3
  %r = scf.for %i = %zero to %n step %one iter_args(%sum = %zero) -> (i64) : i64 {
    %sq = arith.muli %i, %i : i64
    %next = arith.addi %sum, %sq : i64
    scf.yield %next : i64
  }
  return %r : i64
}

func.func @collatz(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %r:2 = scf.while (%x = %n, %steps = %zero) : (i64, i64) -> (i64, i64) {
    %go = arith.cmpi ne, %x, %one : i64
    scf.condition(%go) %x, %steps : i64, i64
  } do {
  ^bb0(%x: i64, %steps: i64):
    %odd = arith.remsi %x, %two : i64
    %isOdd = arith.cmpi ne, %odd, %zero : i64
    %next = scf.if %isOdd -> (i64) {
      %t = arith.muli %x, %three : i64
      %u = arith.addi %t, %one : i64
      scf.yield %u : i64
    } else {
      %h = arith.divsi %x, %two : i64
      scf.yield %h : i64
    }
    %more = arith.addi %steps, %one : i64
    scf.yield %next, %more : i64, i64
  }
  return %r#1 : i64
}

// The carried values are swapped in every trip.
func.func @fibonacci(%n: i64) -> (i64, i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %r:2 = scf.while (%a = %zero, %b = %one) : (i64, i64) -> (i64, i64) {
    %go = arith.cmpi sle, %a, %n : i64
    scf.condition(%go) %b, %a : i64, i64
  } do {
  ^bb0(%b: i64, %a: i64):
    %sum = arith.addi %a, %b : i64
    scf.yield %b, %sum : i64, i64
  }
  return %r#0, %r#1 : i64, i64
}

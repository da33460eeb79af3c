// RUN: pto-opt %s | pto-opt | FileCheck %s
// RUN: pto-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func.func @main
// FOLD-LABEL: func.func @main
// FOLD: vm.const.i64 2
func.func @main(%x: i32, %t: tensor<?x2xf32>, %p: i1) -> (i32, i64) {
  // CHECK: vm.const.i32 3
  %a = vm.const.i32 3
  // CHECK: vm.const.i1 true
  %yes = vm.const.i1 true
  %b = vm.const.i32 40
  // FOLD: %[[C:.*]] = vm.const.i32 43
  // CHECK: vm.binary "iadd" %{{.*}}, %{{.*}} : i32
  %c = vm.binary "iadd" %a, %b : i32
  // CHECK: vm.call @host.print(%{{.*}}) : (i32) -> ()
  // FOLD: vm.call @host.print(%[[C]])
  vm.call @host.print(%c) : (i32) -> ()
  // A device kernel whose results are unused is dead.
  // CHECK: vm.call @device.neg(%{{.*}}) queue 1 {axis = 0 : i64} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  // FOLD-NOT: device.neg
  %dead = vm.call @device.neg(%t) queue 1 {axis = 0 : i64} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  // CHECK: vm.wait_queue 1
  vm.wait_queue 1
  // CHECK: vm.barrier
  vm.barrier
  // CHECK: vm.assert %{{.*}}, "sizes"
  vm.assert %p, "sizes"
  // CHECK: vm.dim %{{.*}}, 1 : tensor<?x2xf32> -> i64
  %two = vm.dim %t, 1 : tensor<?x2xf32> -> i64
  // CHECK: vm.cond_br %{{.*}}, ^bb1(%{{.*}} : i32), ^bb2
  // FOLD-NOT: vm.cond_br
  vm.cond_br %yes, ^bb1(%c : i32), ^bb2
^bb1(%r: i32):
  vm.return %r, %two : i32, i64
^bb2:
  // CHECK: vm.br ^bb1(%{{.*}} : i32)
  vm.br ^bb1(%x : i32)
}

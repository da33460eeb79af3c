// RUN: pto-opt %s --convert-control-to-vm --split-input-file | FileCheck %s

// The ops before the loop form a net, and so does the body; the counter is a number; the collected tensor has one row per trip.
// CHECK-LABEL: module @counted
// CHECK: func.func @main(%[[X:.*]]: tensor<4xf32> {top.name = "x"})
// CHECK: %[[ABS:.*]] = vm.call @device.counted_0(%[[X]]) queue 0 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[N:.*]] = vm.const.i64 3
// CHECK: %[[ALL:.*]] = vm.new() : () -> tensor<3x4xf32>
// CHECK: vm.br ^[[HEAD:.*]](%{{.*}}, %[[ABS]] : i64, tensor<4xf32>)
// CHECK: ^[[HEAD]](%[[I:.*]]: i64, %[[H:.*]]: tensor<4xf32>):
// CHECK: %[[MORE:.*]] = vm.compare 2 %[[I]], %[[N]] : i64
// CHECK: vm.cond_br %[[MORE]], ^[[TRIP:.*]], ^[[AFTER:.*]]
// CHECK: ^[[TRIP]]:
// CHECK: %[[NEXT:.*]] = vm.call @device.counted_1(%[[H]]) queue 0
// CHECK: vm.call @host.put(%[[ALL]], %[[I]], %[[NEXT]])
// CHECK: vm.br ^[[HEAD]](%{{.*}}, %[[NEXT]] : i64, tensor<4xf32>)
// CHECK: ^[[AFTER]]:
// CHECK: vm.return %[[H]], %[[ALL]]
// CHECK: module @counted_0
// CHECK: top.abs
// CHECK: module @counted_1
// CHECK: top.tanh
module @counted {
  func.func @main(%x: tensor<4xf32> {top.name = "x"}) -> (tensor<4xf32>, tensor<3x4xf32>) {
    %n = arith.constant dense<3> : tensor<i64>
    %true = arith.constant dense<true> : tensor<i1>
    %a = top.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    %h, %all = top.loop %n, %true, %a : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
    ^bb0(%i: tensor<i64>, %go: tensor<i1>, %t: tensor<4xf32>):
      %r = top.tanh %t : (tensor<4xf32>) -> tensor<4xf32>
      top.yield %go, %r, %r : tensor<i1>, tensor<4xf32>, tensor<4xf32>
    }
    return %h, %all : tensor<4xf32>, tensor<3x4xf32>
  }
}

// -----

// A computed condition is a number of the program, read last; rows are appended. Scalar integers need no net.
// CHECK-LABEL: module @computed
// CHECK: %[[TRIPS:.*]] = vm.load %{{.*}}[] : (tensor<i64>) -> i64
// CHECK: ^[[HEAD:.*]](%[[I:.*]]: i64, %[[GO:.*]]: i1, %[[H:.*]]: tensor<4xf32>, %[[ROWS:.*]]: tensor<?xi64>):
// CHECK: vm.binary "iand" %{{.*}}, %[[GO]] : i1
// CHECK: %[[TWICE:.*]] = vm.binary "iadd" %[[I]], %[[I]] : i64
// CHECK: vm.call @device.computed_0
// CHECK: vm.store %[[TWICE]]
// CHECK: %[[MORE:.*]] = vm.call @host.append(%[[ROWS]]
// CHECK: %[[AGAIN:.*]] = vm.load %{{.*}}[] : (tensor<i1>) -> i1
// CHECK: vm.br ^[[HEAD]](%{{.*}}, %[[AGAIN]], %{{.*}}, %[[MORE]]
module @computed {
  func.func @main(%n: tensor<i64>, %x: tensor<4xf32>, %bound: tensor<f32>) -> (tensor<4xf32>, tensor<?xi64>) {
    %true = arith.constant dense<true> : tensor<i1>
    %h, %all = top.loop %n, %true, %x : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?xi64>) {
    ^bb0(%i: tensor<i64>, %go: tensor<i1>, %t: tensor<4xf32>):
      %twice = top.add %i, %i : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %r = top.add %t, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %s = top.reduce_max %r {axes = array<i64: 0>, keepdims = false} : (tensor<4xf32>) -> tensor<f32>
      %c = top.compare %s, %bound {mode = "lt"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      top.yield %c, %r, %twice : tensor<i1>, tensor<4xf32>, tensor<i64>
    }
    return %h, %all : tensor<4xf32>, tensor<?xi64>
  }
}

// -----

// Branches merge in a block with their results as arguments; extents that differ are dynamic.
// CHECK-LABEL: module @branches
// CHECK: %[[C:.*]] = vm.load
// CHECK: vm.cond_br %[[C]], ^[[THEN:.*]], ^[[ELSE:.*]]
// CHECK: ^[[THEN]]:
// CHECK: vm.cast %{{.*}} : tensor<2xf32> to tensor<?xf32>
// CHECK: vm.br ^[[JOIN:.*]](
// CHECK: ^[[ELSE]]:
// CHECK: vm.cast %{{.*}} : tensor<3xf32> to tensor<?xf32>
// CHECK: vm.br ^[[JOIN]](
module @branches {
  func.func @main(%c: tensor<1xi1>, %x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<?xf32> {
    %r = top.if %c then {
      top.yield %x : tensor<2xf32>
    } else {
      %n = top.neg %y : (tensor<3xf32>) -> tensor<3xf32>
      top.yield %n : tensor<3xf32>
    } : (tensor<1xi1>) -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
}

// -----

// A reversed scan reads and writes rows with a descending index.
// CHECK-LABEL: module @scan
// CHECK: %[[BACK:.*]] = vm.binary "isub" %{{.*}}, %[[I:.*]] : i64
// CHECK: %[[ROW:.*]] = vm.call @host.row(%{{.*}}, %[[BACK]]) : (tensor<5x4xf32>, i64) -> tensor<4xf32>
// CHECK: %[[SUM:.*]] = vm.call @device.scan_0(%{{.*}}, %[[ROW]])
// CHECK: vm.call @host.put(%{{.*}}, %[[I]], %[[SUM]])
module @scan {
  func.func @main(%s: tensor<4xf32>, %xs: tensor<5x4xf32>) -> tensor<5x4xf32> {
    %last, %ys = top.scan %s, %xs {states = 1 : i64, reversed_inputs = array<i64: 1>, reversed_outputs = array<i64: 0>}
        : (tensor<4xf32>, tensor<5x4xf32>) -> (tensor<4xf32>, tensor<5x4xf32>) {
    ^bb0(%h: tensor<4xf32>, %row: tensor<4xf32>):
      %n = top.add %h, %row : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      top.yield %n, %n : tensor<4xf32>, tensor<4xf32>
    }
    return %ys : tensor<5x4xf32>
  }
}

// -----

// CHECK-LABEL: module @straight
// CHECK: top.relu
// CHECK-NOT: vm.
module @straight {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %r = top.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

// Run-time sizes: extents and elements are numbers; where the shape is static the tensor is cast and passed to a net.
// CHECK-LABEL: module @sizes
// CHECK: %[[PLACES:.*]] = vm.call @host.nonzero(%{{.*}}) : (tensor<2x3xf32>) -> tensor<2x?xi64>
// CHECK: %[[COUNT:.*]] = vm.dim %[[PLACES]], 1 : tensor<2x?xi64> -> i64
// CHECK: vm.compare 0 %[[COUNT]], %{{.*}} : i64
// CHECK: vm.cond_br
// CHECK: %[[ONE:.*]] = vm.cast %[[PLACES]] : tensor<2x?xi64> to tensor<2x1xi64>
// CHECK: vm.call @device.sizes_0(%[[ONE]])
// CHECK: %[[SECOND:.*]] = vm.load %{{.*}}[%{{.*}}] : (tensor<2xi64>, i64) -> i64
// CHECK: %[[HAS:.*]] = vm.compare 0 %[[SECOND]]
// CHECK: vm.assert %[[HAS]], "another size"
module @sizes {
  func.func @main(%x: tensor<2x3xf32>, %n: tensor<2xi64>) -> tensor<2x1xf32> {
    %one = arith.constant dense<1> : tensor<i64>
    %four = arith.constant dense<4> : tensor<1xi64>
    %p = top.nonzero %x : (tensor<2x3xf32>) -> tensor<2x?xi64>
    %d = top.dim %p {axis = 1 : i64} : (tensor<2x?xi64>) -> tensor<i64>
    %is = top.compare %d, %one {mode = "eq"} : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %r = top.if %is then {
      %s = top.assume %p : (tensor<2x?xi64>) -> tensor<2x1xi64>
      %f = top.cast %s {to = f32} : (tensor<2x1xi64>) -> tensor<2x1xf32>
      top.yield %f : tensor<2x1xf32>
    } else {
      %b = top.slice %n {starts = array<i64: 1>, ends = array<i64: 2>, steps = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
      %has = top.compare %b, %four {mode = "eq"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
      top.require %has, "another size" : tensor<1xi1>
      %z = arith.constant dense<0.0> : tensor<2x1xf32>
      top.yield %z : tensor<2x1xf32>
    } : (tensor<i1>) -> tensor<2x1xf32>
    return %r : tensor<2x1xf32>
  }
}

// -----

// What does not need the first search comes before it, so that one net has both.
// CHECK-LABEL: module @searches
// CHECK: %[[BOTH:.*]]:2 = vm.call @device.searches_0
// CHECK-NOT: @device.
// CHECK: vm.call @host.nonzero(%[[BOTH]]#0)
// CHECK: vm.call @host.nonzero(%[[BOTH]]#1)
// CHECK-NOT: @device.
// CHECK: vm.return
module @searches {
  func.func @main(%x: tensor<6xf32> {top.name = "x"}) -> (tensor<1x?xi64>, tensor<1x?xi64>) {
    %a = top.abs %x : (tensor<6xf32>) -> tensor<6xf32>
    %p = top.nonzero %a : (tensor<6xf32>) -> tensor<1x?xi64>
    %b = top.relu %x : (tensor<6xf32>) -> tensor<6xf32>
    %q = top.nonzero %b : (tensor<6xf32>) -> tensor<1x?xi64>
    return %p, %q : tensor<1x?xi64>, tensor<1x?xi64>
  }
}

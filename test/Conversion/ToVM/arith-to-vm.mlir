// RUN: pto-opt %s --convert-arith-to-vm | FileCheck %s

// CHECK-LABEL: func.func @numbers
func.func @numbers(%a: i32, %b: i32, %x: f32, %i: index, %p: i1) -> (i1, i64, f32, i32) {
  // CHECK: %[[C:.*]] = vm.const.i32 40
  %c = arith.constant 40 : i32
  // CHECK: vm.const.index 7
  %seven = arith.constant 7 : index
  // CHECK: vm.const.f32 2.5
  %f = arith.constant 2.5 : f32
  // CHECK: %[[S:.*]] = vm.binary "iadd" %{{.*}}, %[[C]] : i32
  %s = arith.addi %a, %c : i32
  // CHECK: vm.binary "ifloordiv" %[[S]], %{{.*}} : i32
  %q = arith.floordivsi %s, %b : i32
  // CHECK: vm.binary "fmax"
  %m = arith.maximumf %x, %f : f32
  // CHECK: vm.compare 2 %{{.*}}, %{{.*}} : i32
  %l = arith.cmpi slt, %q, %b : i32
  // CHECK: vm.compare 4 %{{.*}}, %{{.*}} : f32
  %o = arith.cmpf olt, %m, %x : f32
  // CHECK: vm.binary "iand" %{{.*}}, %{{.*}} : i1
  %and = arith.andi %l, %o : i1
  // CHECK: vm.convert %{{.*}} : index to i64
  %w = arith.index_cast %i : index to i64
  // CHECK: vm.convert %{{.*}} unsigned : i32 to f32
  %u = arith.uitofp %q : i32 to f32
  // CHECK: vm.select %{{.*}}, %{{.*}}, %{{.*}} : i32
  %sel = arith.select %p, %a, %b : i32
  // CHECK: vm.negate
  %n = arith.negf %u : f32
  return %and, %w, %n, %sel : i1, i64, f32, i32
}

// CHECK-LABEL: func.func @tensors
func.func @tensors(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK: %[[C:.*]] = vm.rodata dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  // CHECK: vm.call @device.addf(%{{.*}}, %[[C]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = arith.addf %x, %c : tensor<4xf32>
  // CHECK: vm.call @device.cmpf(%{{.*}}, %{{.*}}) {predicate = 4 : i64}
  %l = arith.cmpf olt, %x, %c : tensor<4xf32>
  return %y, %l : tensor<4xf32>, tensor<4xi1>
}

// Ops without a VM instruction are kept.
// CHECK-LABEL: func.func @others
func.func @others(%x: f32, %h: f16) -> (i32, f16) {
  // CHECK: arith.bitcast
  %b = arith.bitcast %x : f32 to i32
  // CHECK: arith.addf
  %s = arith.addf %h, %h : f16
  return %b, %s : i32, f16
}

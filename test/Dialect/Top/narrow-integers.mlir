// RUN: pto-opt %s --split-input-file --top-storage-types=mode=F16 --verify-diagnostics | FileCheck %s

// 64-bit integers and booleans are stored as i32; inputs and outputs record the model's type. A cast to boolean tests against 0.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[I:.*]]: tensor<3xi32> {top.arithmetic_bound, top.index_bound = 2147483645 : i64, top.type = i64}, %[[M:.*]]: tensor<3xi32> {top.type = i1}, %[[X:.*]]: tensor<3xf32>)
// CHECK-SAME: -> (tensor<3xi32> {top.type = i1}, tensor<3xf32>, tensor<3xi32> {top.type = i64})
// CHECK-DAG: %[[C:.*]] = arith.constant dense<[1, -2, 3]> : tensor<3xi32>
// CHECK: %[[L:.*]] = top.compare %[[I]], %[[C]] {mode = "lt"} : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK: %[[Z:.*]] = top.compare %[[I]], %{{.*}} {mode = "eq"} : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
// CHECK: %[[B:.*]] = top.not %[[Z]] : (tensor<3xi32>) -> tensor<3xi32>
// CHECK: top.and %[[L]], %[[B]]
// CHECK: top.where %[[M]], {{.*}} : (tensor<3xi32>, tensor<3xf16>, tensor<f16>) -> tensor<3xf16>
func.func @main(%i: tensor<3xi64>, %m: tensor<3xi1>, %x: tensor<3xf32>) -> (tensor<3xi1>, tensor<3xf32>, tensor<3xi64>) {
  %c = arith.constant dense<[1, -2, 3]> : tensor<3xi64>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = top.compare %i, %c {mode = "lt"} : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  %1 = top.cast %i {to = i1} : (tensor<3xi64>) -> tensor<3xi1>
  %2 = top.and %0, %1 : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  %3 = top.where %m, %x, %zero : (tensor<3xi1>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %4 = top.add %i, %c : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  return %2, %3, %4 : tensor<3xi1>, tensor<3xf32>, tensor<3xi64>
}

// -----

// The mask value of an attention becomes the lowest finite f16: infinity times 0 would be NaN. The module lists the clamped constants.
// CHECK: module attributes {top.clipped = ["min"]}
// CHECK: arith.constant dense<-6.550400e+04> : tensor<f16>
module {
  func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %c = arith.constant dense<-3.40282347E+38> : tensor<f32> loc("min")
    %0 = top.mul %x, %c : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

// -----

func.func @main(%i: tensor<1xi64>) -> tensor<1xi64> {
  // expected-error @+1 {{the constant holds 4294967296; integers are 32 bits wide on the device}}
  %c = arith.constant dense<4294967296> : tensor<1xi64>
  %0 = top.add %i, %c : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  return %0 : tensor<1xi64>
}

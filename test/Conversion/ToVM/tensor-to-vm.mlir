// RUN: pto-opt %s --convert-tensor-to-vm | FileCheck %s

// CHECK-LABEL: func.func @main
func.func @main(%t: tensor<?x4xf32>, %n: index, %v: f32) -> (f32, tensor<?xf32>, tensor<2xf32>, tensor<?x2xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[N:.*]] = vm.dim %{{.*}}, 0 : tensor<?x4xf32> -> index
  %d = tensor.dim %t, %c0 : tensor<?x4xf32>
  // CHECK: vm.new(%[[N]]) : (index) -> tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  // CHECK: vm.load %{{.*}}[%{{.*}}, %{{.*}}] : (tensor<?x4xf32>, index, index) -> f32
  %x = tensor.extract %t[%n, %c0] : tensor<?x4xf32>
  // CHECK: %[[D0:.*]] = vm.dim %{{.*}}, 0
  // CHECK: %[[D1:.*]] = vm.dim %{{.*}}, 1
  // CHECK: %[[P:.*]] = vm.binary "imul" %[[D0]], %[[D1]] : index
  // CHECK: vm.reshape %{{.*}}(%[[P]]) : (tensor<?x4xf32>, index) -> tensor<?xf32>
  %c = tensor.collapse_shape %t [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  // CHECK: %[[F:.*]] = vm.new() : () -> tensor<2xf32>
  // CHECK: vm.store %{{.*}}, %[[F]][%{{.*}}] : f32, tensor<2xf32>, index
  // CHECK: vm.store %{{.*}}, %[[F]][%{{.*}}] : f32, tensor<2xf32>, index
  %f = tensor.from_elements %x, %v : tensor<2xf32>
  // CHECK: vm.call @device.extract_slice(%{{.*}}, %{{.*}}) {static_offsets = array<i64: 0, 1>, static_sizes = array<i64: -9223372036854775808, 2>, static_strides = array<i64: 1, 1>}
  %s = tensor.extract_slice %t[0, 1] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  // CHECK: vm.call @device.insert
  %i = tensor.insert %v into %t[%n, %c0] : tensor<?x4xf32>
  // CHECK: vm.cast %{{.*}} : tensor<?x4xf32> to tensor<3x4xf32>
  %k = tensor.cast %i : tensor<?x4xf32> to tensor<3x4xf32>
  // CHECK: vm.cast
  %j = tensor.cast %k : tensor<3x4xf32> to tensor<?x4xf32>
  return %x, %c, %f, %s, %j : f32, tensor<?xf32>, tensor<2xf32>, tensor<?x2xf32>, tensor<?x4xf32>
}

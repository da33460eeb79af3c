// RUN: pto-opt %s --convert-tosa-to-vm | FileCheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x1xf32> {
  // CHECK: %[[T:.*]] = vm.rodata dense_resource<wte> : tensor<1x50257x768xf32>
  %t = "tosa.const"() {value = dense_resource<wte> : tensor<1x50257x768xf32>} : () -> tensor<1x50257x768xf32>
  // CHECK: %[[I:.*]] = vm.rodata dense<{{.*}}> : tensor<1x2xi32>
  %i = "tosa.const"() {value = dense<[[3, 4]]> : tensor<1x2xi32>} : () -> tensor<1x2xi32>
  // CHECK: vm.call @device.gather(%[[T]], %[[I]]) : (tensor<1x50257x768xf32>, tensor<1x2xi32>) -> tensor<1x2x768xf32>
  %g = tosa.gather %t, %i : (tensor<1x50257x768xf32>, tensor<1x2xi32>) -> tensor<1x2x768xf32>
  // CHECK: vm.call @device.clamp(%{{.*}}) {max_fp = 6.000000e+00 : f32, max_int = 6 : i64, min_fp = 0.000000e+00 : f32, min_int = 0 : i64}
  %c = tosa.clamp %x {min_int = 0 : i64, max_int = 6 : i64, min_fp = 0.0 : f32, max_fp = 6.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: vm.call @device.reduce_sum(%{{.*}}) {axis = 1 : i32}
  %r = tosa.reduce_sum %c {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

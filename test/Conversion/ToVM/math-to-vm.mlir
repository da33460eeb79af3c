// RUN: pto-opt %s --convert-math-to-vm | FileCheck %s

func.func @main(%x: f32, %t: tensor<4xf32>) -> (f32, tensor<4xf32>) {
  // CHECK: vm.call @host.tanh(%{{.*}}) : (f32) -> f32
  %y = math.tanh %x : f32
  // CHECK: vm.call @device.exp(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %e = math.exp %t : tensor<4xf32>
  return %y, %e : f32, tensor<4xf32>
}

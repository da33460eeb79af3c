// Tasks as values: text and bytecode.
// RUN: pto-opt %s | pto-opt | FileCheck %s
// RUN: pto-opt --vm-to-bytecode %s --locations | FileCheck %s --check-prefix=CODE

// CODE: .const 0 = kernel @device.add (tensor<64xf32>, tensor<64xf32>, i64) {"directions" = "in,inout"}
// CODE: slots({{.*}}task
func.func @main(%all: tensor<128xf32>, %n: i64) -> tensor<?xf32> {
  // CHECK: %[[MEM:.*]] = vm.reserve(%{{.*}}) : (i64) -> tensor<?xf32>
  // CODE: reserve tensor<?xf32>
  %memory = vm.reserve(%n) : (i64) -> tensor<?xf32>
  %zero = vm.const.i64 0
  // CHECK: vm.view %{{.*}}[%{{.*}} : i64] () : tensor<128xf32> to tensor<64xf32>
  // CODE: view tensor<64xf32>
  %a = vm.view %all[%n : i64] () : tensor<128xf32> to tensor<64xf32>
  %b = vm.view %memory[%zero : i64] () : tensor<?xf32> to tensor<64xf32>
  // CHECK: %[[T:.*]] = vm.submit @device.add(%{{.*}}, %{{.*}}, %{{.*}}) directions "in,inout" : (tensor<64xf32>, tensor<64xf32>, i64)
  // CODE: submit 0, 0
  %first = vm.submit @device.add(%a, %b, %n) directions "in,inout" : (tensor<64xf32>, tensor<64xf32>, i64)
  // CHECK: vm.join() 
  // CODE: join 0
  %none = vm.join()
  // CHECK: vm.submit @device.add(%{{.*}}) after(%[[T]], %{{.*}}) directions
  // CODE: tasks.mlir:[[#]]
  // CODE: submit 0, 2
  %second = vm.submit @device.add(%a, %b, %n) after (%first, %none) directions "in,inout" : (tensor<64xf32>, tensor<64xf32>, i64)
  return %memory : tensor<?xf32>
}

// RUN: pto-opt %s --form-kernels | FileCheck %s --check-prefix=FORM
// RUN: pto-opt %s --form-kernels --tile-vector-kernels | FileCheck %s

// The state is the output argument of the kernel, and what the launch writes into.
// FORM: top.launch @k0_present ins(%arg1, %arg2 : tensor<1x3x1x4xf32>, tensor<1xi32>) outs(%arg0 : tensor<1x3x8x4xf32>)
// FORM: func.func private @k0_present(%[[U:.*]]: tensor<1x3x1x4xf32>, %[[AT:.*]]: tensor<1xi32>, %[[OUT:.*]]: tensor<1x3x8x4xf32>)
// FORM: top.state_write %[[OUT]], %[[U]], %[[AT]]

// A run of elements per head, at the row that the position says.
// CHECK: func.func private @k0_present
// CHECK: tensor.extract
// CHECK: arith.maxsi
// CHECK: %[[ROW:.*]] = arith.minsi
// CHECK: %[[PLACE:.*]] = arith.index_cast %[[ROW]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[PLACE]]
// CHECK: scf.for %[[HEAD:[a-z0-9]+]] =
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[HEAD]], %[[FIRST]]] [1, 4] [1, 1]
// CHECK: pto.distribute
func.func @main(%s: tensor<1x3x8x4xf32> {top.name = "past", top.state_axis = 2 : i64}, %u: tensor<1x3x1x4xf32>,
                %at: tensor<1xi32> {top.state_position}) -> (tensor<1x3x8x4xf32> {top.name = "present", top.state_of = "past"}) {
  %0 = top.state_write %s, %u, %at {axis = 2} : (tensor<1x3x8x4xf32>, tensor<1x3x1x4xf32>, tensor<1xi32>) -> tensor<1x3x8x4xf32> loc("present")
  return %0 : tensor<1x3x8x4xf32>
}

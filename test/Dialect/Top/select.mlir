// RUN: pto-opt --top-infer-shapes --split-input-file %s | FileCheck %s

// CHECK: func.func @main(%{{.*}}: tensor<3x8xf32>, %{{.*}}: tensor<3x4xi64>, %{{.*}}: tensor<5xi64>, %{{.*}}: tensor<5x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>, tensor<3x4xf32>, tensor<3x8xf32>)
func.func @main(%x: tensor<3x8xf32>, %i: tensor<3x4xi64>, %p: tensor<5xi64>, %u: tensor<5x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>, tensor<3x4xf32>, tensor<3x8xf32>) {
  // CHECK: top.topk_values %{{.*}} {k = 2 : i64} : (tensor<3x8xf32>) -> tensor<3x2xf32>
  %v = top.topk_values %x {k = 2} : (tensor<3x8xf32>) -> tensor<3x2xf32>
  // CHECK: top.topk_indices %{{.*}} {k = 2 : i64, largest = false} : (tensor<3x8xf32>) -> tensor<3x2xi64>
  %k = top.topk_indices %x {k = 2, largest = false} : (tensor<3x8xf32>) -> tensor<3x2xi64>
  // CHECK: top.gather_elements %{{.*}}, %{{.*}} : (tensor<3x8xf32>, tensor<3x4xi64>) -> tensor<3x4xf32>
  %g = top.gather_elements %x, %i : (tensor<3x8xf32>, tensor<3x4xi64>) -> tensor<3x4xf32>
  // CHECK: top.scatter %{{.*}}, %{{.*}}, %{{.*}} {reduction = "add"} : (tensor<3x8xf32>, tensor<5xi64>, tensor<5x8xf32>) -> tensor<3x8xf32>
  %s = top.scatter %x, %p, %u {reduction = "add"} : (tensor<3x8xf32>, tensor<5xi64>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return %v, %k, %g, %s : tensor<3x2xf32>, tensor<3x2xi64>, tensor<3x4xf32>, tensor<3x8xf32>
}

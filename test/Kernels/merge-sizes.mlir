// RUN: pto-opt %s --form-kernels --assign-sizes | FileCheck %s

// Ops over batch and length are over as many rows as their product, which their launches pass; so is what makes their
// initial values. A tensor of one of them stays.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<()[s0, s1] -> (s0 * s1)>
// CHECK-DAG: #[[LENGTH:.*]] = affine_map<()[s0, s1] -> (s1)>
// CHECK: func.func @main
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : tensor<4x30x48xf32> into tensor<120x48xf32>
// CHECK-NOT: tensor.collapse_shape
// CHECK: top.launch {{.*}}scalars = #[[ROWS]]} -> tensor<120xf32>
// CHECK: top.launch {{.*}}scalars = #[[LENGTH]]} -> tensor<30xf32>
// CHECK: func.func private {{.*}}tensor<120x48xf32> {pto.sizes = affine_map<()[s0] -> (s0, 48)>}
// CHECK: linalg.fill {{.*}} -> tensor<120xf32>
#whole = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#rows = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%x: tensor<4x30x48xf32> {top.sizes = affine_map<()[s0, s1] -> (s0, s1, 48)>},
                %p: tensor<30xf32> {top.sizes = affine_map<()[s0, s1] -> (s1)>})
    -> (tensor<4x30xf32> {top.sizes = affine_map<()[s0, s1] -> (s0, s1)>},
        tensor<30xf32> {top.sizes = affine_map<()[s0, s1] -> (s1)>})
    attributes {top.symbols = [{name = "batch", least = 1, greatest = 4, multiple = 1},
                               {name = "length", least = 1, greatest = 30, multiple = 1}]} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x30xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<4x30xf32>) -> tensor<4x30xf32>
  %0 = linalg.generic {indexing_maps = [#whole, #whole, #rows], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %x : tensor<4x30x48xf32>, tensor<4x30x48xf32>) outs(%init : tensor<4x30xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  } -> tensor<4x30xf32>
  %e1 = tensor.empty() : tensor<30xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
       ins(%p : tensor<30xf32>) outs(%e1 : tensor<30xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = math.exp %a : f32
    linalg.yield %m : f32
  } -> tensor<30xf32>
  return %0, %2 : tensor<4x30xf32>, tensor<30xf32>
}

// RUN: pto-opt %s --bufferize-vector-kernels | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// The host function and the cube kernel stay on tensors.
// CHECK-LABEL: func.func @main(%arg0: tensor<16xf32>) -> tensor<16xf32>
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  return %x : tensor<16xf32>
}

// CHECK-LABEL: func.func private @cube(%arg0: tensor<4xf32>) -> tensor<4xf32>
func.func private @cube(%out: tensor<4xf32>) -> tensor<4xf32> attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  return %out : tensor<4xf32>
}

// CHECK-LABEL: func.func private @exp(%arg0: memref<16xf32>, %arg1: memref<16xf32>)
// CHECK-NOT: ->
// CHECK: %[[A:.*]] = memref.alloc() {{.*}} : memref<16xf32, #pto.address_space<vec>>
// CHECK: memref.copy %arg0, %[[A]]
// CHECK: %[[B:.*]] = memref.alloc() {{.*}} : memref<16xf32, #pto.address_space<vec>>
// CHECK: linalg.generic {{.*}} ins(%[[A]] : {{.*}}) outs(%[[B]] :
// CHECK: memref.copy %[[B]], %arg1
// CHECK: return
func.func private @exp(%x: tensor<16xf32>, %out: tensor<16xf32>) -> tensor<16xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = bufferization.alloc_tensor() copy(%x) {memory_space = #pto.address_space<vec>} : tensor<16xf32>
  %1 = bufferization.alloc_tensor() {memory_space = #pto.address_space<vec>} : tensor<16xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<16xf32>) outs(%1 : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %4 = math.exp %a : f32
    linalg.yield %4 : f32
  } -> tensor<16xf32>
  %3 = bufferization.materialize_in_destination %2 in %out : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}

// RUN: pto-opt %s --place-concats | FileCheck %s
// RUN: pto-opt %s --place-concats --plan-global-memory | FileCheck %s --check-prefix=PLACES

// Columns of a tensor inside of a concatenation, and of the concatenation: readers step by its rows.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:[a-z0-9_]+]] = top.launch @copy16_placed ins(%{{.*}} : tensor<4x16xf32>)
// CHECK: %[[S:[a-z0-9_]+]] = tensor.extract_slice %[[A]][0, 8] [4, 8] [1, 1] : tensor<4x16xf32> to tensor<4x8xf32>
// CHECK: %[[B:[a-z0-9_]+]] = top.launch @copy8_placed{{.*}} ins(%[[S]] : tensor<4x8xf32>)
// CHECK: %[[C:[a-z0-9_]+]] = tensor.concat dim(1) %[[A]], %[[B]]
// CHECK: %[[T:[a-z0-9_]+]] = tensor.extract_slice %[[C]][0, 16] [4, 8] [1, 1] : tensor<4x24xf32> to tensor<4x8xf32>
// CHECK: top.launch @copy8_placed{{.*}} ins(%[[T]] : tensor<4x8xf32>)
// A result of the net is a tensor of its own, and so is what a concatenation copies or a reader needs in one run that begins inside of a row.
// CHECK-COUNT-2: top.launch @cut
// PLACES: top.launch @copy16_placed {{.*}}places = [#top.place<input, 0>, #top.place<workspace, 0, 352>]
// PLACES: top.launch @copy8_placed{{.*}} {{.*}}places = [#top.place<workspace, 32, 320>, #top.place<workspace, 64, 320>]
// PLACES: top.launch @copy8_placed{{.*}} {{.*}}places = [#top.place<workspace, 64, 320>, #top.place<output, 0>]
module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<4x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<32xf32>) {
    %e8 = tensor.empty() : tensor<4x8xf32>
    %e16 = tensor.empty() : tensor<4x16xf32>
    %e24 = tensor.empty() : tensor<4x24xf32>
    %e32 = tensor.empty() : tensor<32xf32>
    %a = top.launch @copy16 ins(%x : tensor<4x16xf32>) outs(%e16 : tensor<4x16xf32>) {names = ["a"], layouts = [""], absorbed = []} -> tensor<4x16xf32>
    %s = top.launch @cut8 ins(%a : tensor<4x16xf32>) outs(%e8 : tensor<4x8xf32>) {top.columns = array<i64: 8, 8, 16>, names = ["s"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %b = top.launch @copy8 ins(%s : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["b"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %c = top.launch @concat ins(%a, %b : tensor<4x16xf32>, tensor<4x8xf32>) outs(%e24 : tensor<4x24xf32>) {top.concat_axis = 1 : i64, names = ["c"], layouts = [""], absorbed = []} -> tensor<4x24xf32>
    %t = top.launch @cut24 ins(%c : tensor<4x24xf32>) outs(%e8 : tensor<4x8xf32>) {top.columns = array<i64: 16, 8, 24>, names = ["t"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %y = top.launch @copy8 ins(%t : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["y"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %z = top.launch @cut24 ins(%c : tensor<4x24xf32>) outs(%e8 : tensor<4x8xf32>) {top.columns = array<i64: 0, 8, 24>, names = ["z"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %u = top.launch @cut24 ins(%c : tensor<4x24xf32>) outs(%e8 : tensor<4x8xf32>) {top.columns = array<i64: 0, 8, 24>, names = ["u"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %f = tensor.collapse_shape %u [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
    %v = top.launch @run32 ins(%f : tensor<32xf32>) outs(%e32 : tensor<32xf32>) {names = ["v"], layouts = [""], absorbed = []} -> tensor<32xf32>
    return %y, %z, %v : tensor<4x8xf32>, tensor<4x8xf32>, tensor<32xf32>
  }
  // CHECK: func.func private @copy8_placed
  // CHECK: pto.make_tensor_view %{{.*}}, shape = [%c4, %c8], strides = [%c24{{.*}}, %c1]
  // CHECK: func.func private @copy16_placed(%[[X:[a-z0-9]+]]: !pto.ptr<f32>, %[[Y:[a-z0-9]+]]: !pto.ptr<f32>)
  // CHECK-DAG: pto.make_tensor_view %[[X]], shape = [%c4, %c16], strides = [%c16, %c1]
  // CHECK-DAG: pto.make_tensor_view %[[Y]], shape = [%c4, %c16], strides = [%c24{{.*}}, %c1]
  func.func private @copy8(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %from = pto.make_tensor_view %x, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<4x8xf32>
    %to = pto.make_tensor_view %y, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<4x8xf32>
    return
  }
  func.func private @copy16(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %from = pto.make_tensor_view %x, shape = [%c4, %c16], strides = [%c16, %c1] : !pto.tensor_view<4x16xf32>
    %to = pto.make_tensor_view %y, shape = [%c4, %c16], strides = [%c16, %c1] : !pto.tensor_view<4x16xf32>
    return
  }
  func.func private @run32(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c4 = arith.constant 4 : index
    %q = pto.addptr %x, %c4 : <f32> -> <f32>
    %from = pto.make_tensor_view %q, shape = [%c1, %c32], strides = [%c32, %c1] : !pto.tensor_view<1x32xf32>
    return
  }
  func.func private @cut8(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
  func.func private @cut24(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
  func.func private @concat(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
}

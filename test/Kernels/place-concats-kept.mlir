// RUN: pto-opt %s --split-input-file --place-concats | FileCheck %s

// What keeps its copy. An input has a place of its own.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @concat
module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x16xf32> {
    %e8 = tensor.empty() : tensor<4x8xf32>
    %e16 = tensor.empty() : tensor<4x16xf32>
    %a = top.launch @rows ins(%x : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["a"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %ab = top.launch @concat ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e16 : tensor<4x16xf32>) {top.concat_axis = 1 : i64, names = ["ab"], layouts = [""], absorbed = []} -> tensor<4x16xf32>
    %y = top.launch @rows ins(%ab : tensor<4x16xf32>) outs(%e16 : tensor<4x16xf32>) {names = ["y"], layouts = [""], absorbed = []} -> tensor<4x16xf32>
    return %y : tensor<4x16xf32>
  }
  func.func private @rows(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
  func.func private @concat(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
}

// -----

// The result is an output, and so is an operand of the other.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: top.launch @concat
module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x8xf32>, tensor<4x16xf32>) {
    %e8 = tensor.empty() : tensor<4x8xf32>
    %e16 = tensor.empty() : tensor<4x16xf32>
    %a = top.launch @rows ins(%x : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["a"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %b = top.launch @rows ins(%x : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["b"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %c = top.launch @rows ins(%x : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["c"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %ab = top.launch @concat ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e16 : tensor<4x16xf32>) {top.concat_axis = 1 : i64, names = ["ab"], layouts = [""], absorbed = []} -> tensor<4x16xf32>
    %bc = top.launch @concat ins(%b, %c : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e16 : tensor<4x16xf32>) {top.concat_axis = 1 : i64, names = ["bc"], layouts = [""], absorbed = []} -> tensor<4x16xf32>
    %y = top.launch @rows ins(%bc : tensor<4x16xf32>) outs(%e16 : tensor<4x16xf32>) {names = ["y"], layouts = [""], absorbed = []} -> tensor<4x16xf32>
    return %ab, %c, %y : tensor<4x16xf32>, tensor<4x8xf32>, tensor<4x16xf32>
  }
  func.func private @rows(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
  func.func private @concat(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
}

// -----

// The kernel that writes %a has its rows in a run that begins inside of one; along the outermost dimension the same kernel is no hindrance.
// CHECK-LABEL: func.func @main
// CHECK: top.launch @concat
// CHECK: tensor.concat dim(0)
module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<8x8xf32>) {
    %e8 = tensor.empty() : tensor<4x8xf32>
    %e16 = tensor.empty() : tensor<4x16xf32>
    %e88 = tensor.empty() : tensor<8x8xf32>
    %a = top.launch @flat ins(%x : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["a"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %b = top.launch @flat ins(%x : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["b"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %ab = top.launch @concat ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e16 : tensor<4x16xf32>) {top.concat_axis = 1 : i64, names = ["ab"], layouts = [""], absorbed = []} -> tensor<4x16xf32>
    %y = top.launch @flat ins(%ab : tensor<4x16xf32>) outs(%e16 : tensor<4x16xf32>) {names = ["y"], layouts = [""], absorbed = []} -> tensor<4x16xf32>
    %c = top.launch @flat ins(%x : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["c"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %d = top.launch @flat ins(%x : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["d"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %cd = top.launch @concat ins(%c, %d : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e88 : tensor<8x8xf32>) {top.concat_axis = 0 : i64, names = ["cd"], layouts = [""], absorbed = []} -> tensor<8x8xf32>
    %z = top.launch @flat ins(%cd : tensor<8x8xf32>) outs(%e88 : tensor<8x8xf32>) {names = ["z"], layouts = [""], absorbed = []} -> tensor<8x8xf32>
    return %y, %z : tensor<4x16xf32>, tensor<8x8xf32>
  }
  func.func private @flat(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c4 = arith.constant 4 : index
    %q = pto.addptr %y, %c4 : <f32> -> <f32>
    %to = pto.make_tensor_view %q, shape = [%c1, %c32], strides = [%c32, %c1] : !pto.tensor_view<1x32xf32>
    return
  }
  func.func private @concat(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
}

// -----

// Rows of 12 bytes; and the same operand twice.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: top.launch @concat
module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<4x3xf32>, %v: tensor<4x8xf32>) -> (tensor<4x6xf32>, tensor<4x16xf32>) {
    %e3 = tensor.empty() : tensor<4x3xf32>
    %e6 = tensor.empty() : tensor<4x6xf32>
    %e8 = tensor.empty() : tensor<4x8xf32>
    %e16 = tensor.empty() : tensor<4x16xf32>
    %a = top.launch @rows ins(%x : tensor<4x3xf32>) outs(%e3 : tensor<4x3xf32>) {names = ["a"], layouts = [""], absorbed = []} -> tensor<4x3xf32>
    %b = top.launch @rows ins(%x : tensor<4x3xf32>) outs(%e3 : tensor<4x3xf32>) {names = ["b"], layouts = [""], absorbed = []} -> tensor<4x3xf32>
    %ab = top.launch @concat ins(%a, %b : tensor<4x3xf32>, tensor<4x3xf32>) outs(%e6 : tensor<4x6xf32>) {top.concat_axis = 1 : i64, names = ["ab"], layouts = [""], absorbed = []} -> tensor<4x6xf32>
    %y = top.launch @rows ins(%ab : tensor<4x6xf32>) outs(%e6 : tensor<4x6xf32>) {names = ["y"], layouts = [""], absorbed = []} -> tensor<4x6xf32>
    %c = top.launch @rows ins(%v : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["c"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %cc = top.launch @concat ins(%c, %c : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e16 : tensor<4x16xf32>) {top.concat_axis = 1 : i64, names = ["cc"], layouts = [""], absorbed = []} -> tensor<4x16xf32>
    %z = top.launch @rows ins(%cc : tensor<4x16xf32>) outs(%e16 : tensor<4x16xf32>) {names = ["z"], layouts = [""], absorbed = []} -> tensor<4x16xf32>
    return %y, %z : tensor<4x6xf32>, tensor<4x16xf32>
  }
  func.func private @rows(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
  func.func private @concat(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
}

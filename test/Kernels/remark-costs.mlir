// RUN: pto-opt %s --remark-costs=num-cores=1 --verify-diagnostics | FileCheck %s

// Nothing is changed.
// CHECK-LABEL: func.func @main
module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
    %init = tensor.empty() : tensor<1x64xf32>
    // One row in one transfer is as fast as its bytes.
    %0 = top.launch @row ins(%x : tensor<1x64xf32>) outs(%init : tensor<1x64xf32>) {names = [""], layouts = [""], absorbed = []} -> tensor<1x64xf32>
    // expected-remark @below {{in one kernel, where its 0.5 KiB of global memory take}}
    %1 = top.launch @elements ins(%0 : tensor<1x64xf32>) outs(%init : tensor<1x64xf32>) {names = [""], layouts = [""], absorbed = []} -> tensor<1x64xf32>
    %part = tensor.extract_slice %1[0, 0] [1, 64] [1, 1] : tensor<1x64xf32> to tensor<1x64xf32>
    // expected-remark @below {{takes 3 launches: no one kernel converts, rearranges and computes what it needs}}
    %2 = top.launch @row ins(%part : tensor<1x64xf32>) outs(%init : tensor<1x64xf32>) {names = ["y"], layouts = [""], absorbed = []} -> tensor<1x64xf32>
    // A tensor of its own: the launches before made another one.
    %3 = top.launch @row ins(%2 : tensor<1x64xf32>) outs(%init : tensor<1x64xf32>) {names = ["z"], layouts = [""], absorbed = []} -> tensor<1x64xf32>
    // Launches that write the operands of a concatenation in place.
    %a = top.launch @row ins(%3 : tensor<1x64xf32>) outs(%init : tensor<1x64xf32>) {names = [""], layouts = [""], absorbed = []} -> tensor<1x64xf32>
    %b = top.launch @row ins(%3 : tensor<1x64xf32>) outs(%init : tensor<1x64xf32>) {names = [""], layouts = [""], absorbed = []} -> tensor<1x64xf32>
    %both = tensor.concat dim(0) %a, %b : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
    // expected-remark @below {{takes 3 launches: no one kernel converts, rearranges and computes what it needs}}
    %4 = top.launch @row ins(%both : tensor<2x64xf32>) outs(%init : tensor<1x64xf32>) {names = ["w"], layouts = [""], absorbed = []} -> tensor<1x64xf32>
    return %4 : tensor<1x64xf32>
  }

  func.func private @row(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %from = pto.make_tensor_view %x, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<1x64xf32>
    %to = pto.make_tensor_view %y, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<1x64xf32>
    %a = pto.partition_view %from, offsets = [%c0, %c0], sizes = [%c1, %c64] : !pto.tensor_view<1x64xf32> -> !pto.partition_tensor_view<1x64xf32>
    %b = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c1, %c64] : !pto.tensor_view<1x64xf32> -> !pto.partition_tensor_view<1x64xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
    pto.tload ins(%a : !pto.partition_tensor_view<1x64xf32>) outs(%t : !pto.tile_buf<vec, 1x64xf32>)
    pto.tstore ins(%t : !pto.tile_buf<vec, 1x64xf32>) outs(%b : !pto.partition_tensor_view<1x64xf32>)
    return
  }

  func.func private @elements(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %from = pto.make_tensor_view %x, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<1x64xf32>
    %to = pto.make_tensor_view %y, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<1x64xf32>
    scf.for %i = %c0 to %c64 step %c1 {
      %a = pto.partition_view %from, offsets = [%c0, %i], sizes = [%c1, %c1] : !pto.tensor_view<1x64xf32> -> !pto.partition_tensor_view<1x1xf32>
      %b = pto.partition_view %to, offsets = [%c0, %i], sizes = [%c1, %c1] : !pto.tensor_view<1x64xf32> -> !pto.partition_tensor_view<1x1xf32>
      %t = pto.alloc_tile : !pto.tile_buf<vec, 1x8xf32, valid=1x1>
      pto.tload ins(%a : !pto.partition_tensor_view<1x1xf32>) outs(%t : !pto.tile_buf<vec, 1x8xf32, valid=1x1>)
      pto.tstore ins(%t : !pto.tile_buf<vec, 1x8xf32, valid=1x1>) outs(%b : !pto.partition_tensor_view<1x1xf32>)
    }
    return
  }
}

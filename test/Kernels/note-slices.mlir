// RUN: pto-opt %s --note-slices | FileCheck %s
// RUN: pto-opt %s --note-slices --pto-estimate=num-core=24 | grep -o '@[a-z_]*(.*pto.estimate = [0-9.e+]*' > %t
// RUN: awk '/@slices/ {s = $NF} /@apart/ {a = $NF} END {print (s < 0.9 * a) ? "less" : s " " a}' %t | FileCheck %s --check-prefix=LESS

// Lines that one slice brings to L2 need not come from HBM again for the other.
// LESS: less

module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<4x49152xf32>, %y: tensor<3x49152xf32>) -> tensor<3x49152xf32> {
    %init = tensor.empty() : tensor<3x49152xf32>
    %all = tensor.empty() : tensor<4x49152xf32>
    %0 = top.launch @make ins(%x : tensor<4x49152xf32>) outs(%all : tensor<4x49152xf32>) {names = [""], layouts = [""], absorbed = []} -> tensor<4x49152xf32>
    %a = tensor.extract_slice %0[0, 0] [3, 49152] [1, 1] : tensor<4x49152xf32> to tensor<3x49152xf32>
    %b = tensor.extract_slice %0[1, 0] [3, 49152] [1, 1] : tensor<4x49152xf32> to tensor<3x49152xf32>
    %1 = top.launch @slices ins(%a, %b : tensor<3x49152xf32>, tensor<3x49152xf32>) outs(%init : tensor<3x49152xf32>) {names = [""], layouts = [""], absorbed = []} -> tensor<3x49152xf32>
    %2 = top.launch @apart ins(%1, %y : tensor<3x49152xf32>, tensor<3x49152xf32>) outs(%init : tensor<3x49152xf32>) {names = [""], layouts = [""], absorbed = []} -> tensor<3x49152xf32>
    %3 = top.launch @differ ins(%a, %b : tensor<3x49152xf32>, tensor<3x49152xf32>) outs(%init : tensor<3x49152xf32>) {names = [""], layouts = [""], absorbed = []} -> tensor<3x49152xf32>
    %4 = top.launch @differ ins(%2, %3 : tensor<3x49152xf32>, tensor<3x49152xf32>) outs(%init : tensor<3x49152xf32>) {names = ["z"], layouts = [""], absorbed = []} -> tensor<3x49152xf32>
    return %4 : tensor<3x49152xf32>
  }

  // CHECK: func.func private @make(%{{[^{]*}}) attributes
  func.func private @make(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }

  // A row of 49152 elements has 196608 bytes.
  // CHECK: func.func private @slices(%{{[a-z0-9]*}}: !pto.ptr<f32> {pto.slice_of = array<i64: 0, 0>}, %{{[a-z0-9]*}}: !pto.ptr<f32> {pto.slice_of = array<i64: 0, 196608>}, %{{[a-z0-9]*}}: !pto.ptr<f32>) attributes
  func.func private @slices(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c1024 = arith.constant 1024 : index
    %block = pto.get_block_idx
    %subblock = pto.get_subblock_idx
    %i = arith.index_cast %block : i64 to index
    %j = arith.index_cast %subblock : i64 to index
    %cores = arith.muli %i, %c2 : index
    %core = arith.addi %cores, %j : index
    %col = arith.muli %core, %c1024 : index
    %c3 = arith.constant 3 : index
    %c49152 = arith.constant 49152 : index
    %from = pto.make_tensor_view %x, shape = [%c3, %c49152], strides = [%c49152, %c1] : !pto.tensor_view<3x49152xf32>
    %and = pto.make_tensor_view %y, shape = [%c3, %c49152], strides = [%c49152, %c1] : !pto.tensor_view<3x49152xf32>
    %a = pto.partition_view %from, offsets = [%c0, %col], sizes = [%c3, %c1024] : !pto.tensor_view<3x49152xf32> -> !pto.partition_tensor_view<3x1024xf32>
    %b = pto.partition_view %and, offsets = [%c0, %col], sizes = [%c3, %c1024] : !pto.tensor_view<3x49152xf32> -> !pto.partition_tensor_view<3x1024xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 3x1024xf32>
    %u = pto.alloc_tile : !pto.tile_buf<vec, 3x1024xf32>
    pto.tload ins(%a : !pto.partition_tensor_view<3x1024xf32>) outs(%t : !pto.tile_buf<vec, 3x1024xf32>)
    pto.tload ins(%b : !pto.partition_tensor_view<3x1024xf32>) outs(%u : !pto.tile_buf<vec, 3x1024xf32>)
    return
  }

  // CHECK: func.func private @apart(%{{[^{]*}}) attributes
  func.func private @apart(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c1024 = arith.constant 1024 : index
    %block = pto.get_block_idx
    %subblock = pto.get_subblock_idx
    %i = arith.index_cast %block : i64 to index
    %j = arith.index_cast %subblock : i64 to index
    %cores = arith.muli %i, %c2 : index
    %core = arith.addi %cores, %j : index
    %col = arith.muli %core, %c1024 : index
    %c3 = arith.constant 3 : index
    %c49152 = arith.constant 49152 : index
    %from = pto.make_tensor_view %x, shape = [%c3, %c49152], strides = [%c49152, %c1] : !pto.tensor_view<3x49152xf32>
    %and = pto.make_tensor_view %y, shape = [%c3, %c49152], strides = [%c49152, %c1] : !pto.tensor_view<3x49152xf32>
    %a = pto.partition_view %from, offsets = [%c0, %col], sizes = [%c3, %c1024] : !pto.tensor_view<3x49152xf32> -> !pto.partition_tensor_view<3x1024xf32>
    %b = pto.partition_view %and, offsets = [%c0, %col], sizes = [%c3, %c1024] : !pto.tensor_view<3x49152xf32> -> !pto.partition_tensor_view<3x1024xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 3x1024xf32>
    %u = pto.alloc_tile : !pto.tile_buf<vec, 3x1024xf32>
    pto.tload ins(%a : !pto.partition_tensor_view<3x1024xf32>) outs(%t : !pto.tile_buf<vec, 3x1024xf32>)
    pto.tload ins(%b : !pto.partition_tensor_view<3x1024xf32>) outs(%u : !pto.tile_buf<vec, 3x1024xf32>)
    return
  }

  // Of two launches with different arguments neither says it for the other.
  // CHECK: func.func private @differ(%{{[^{]*}}) attributes
  func.func private @differ(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
}

// RUN: pto-opt %s --place-concats --split-input-file | FileCheck %s

// A loop over runs of four rows: the rows get a dimension of their own, and the tile is looked at row by row.
// CHECK-LABEL: func.func @main
// CHECK: tensor.concat
// CHECK: func.func private @runs_placed(%{{.*}}: !pto.ptr<f32>, %[[Y:[a-z0-9]+]]: !pto.ptr<f32>)
// CHECK: scf.for %[[AT:[a-z0-9]+]] =
// CHECK: %[[ROWS:[0-9]+]] = arith.floordivsi %[[AT]], %c8
// CHECK: %[[BEGIN:[0-9]+]] = arith.muli %[[ROWS]], %c16
// CHECK: pto.addptr %[[Y]], %[[BEGIN]]
// CHECK: pto.make_tensor_view %{{.*}}, shape = [%c1, %c4{{.*}}, %c8{{.*}}], strides = [%c{{.*}}, %c16{{.*}}, %c1] : !pto.tensor_view<1x4x8xf32>
// CHECK: %[[PART:[0-9]+]] = pto.partition_view %{{.*}} sizes = [%c1, %c4{{.*}}, %c8{{.*}}] : !pto.tensor_view<1x4x8xf32> -> !pto.partition_tensor_view<1x4x8xf32>
// CHECK: %[[TILE:[0-9]+]] = pto.treshape %{{.*}} : !pto.tile_buf<vec, 1x32xf32> -> !pto.tile_buf<vec, 4x8xf32>
// CHECK: pto.tstore ins(%[[TILE]] : !pto.tile_buf<vec, 4x8xf32>) outs(%[[PART]]
module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<8x8xf32>) -> tensor<8x16xf32> {
    %e8 = tensor.empty() : tensor<8x8xf32>
    %e16 = tensor.empty() : tensor<8x16xf32>
    %a = top.launch @runs ins(%x : tensor<8x8xf32>) outs(%e8 : tensor<8x8xf32>) {names = ["a"], layouts = [""], absorbed = []} -> tensor<8x8xf32>
    %b = top.launch @runs ins(%x : tensor<8x8xf32>) outs(%e8 : tensor<8x8xf32>) {names = ["b"], layouts = [""], absorbed = []} -> tensor<8x8xf32>
    %ab = top.launch @concat ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e16 : tensor<8x16xf32>) {top.concat_axis = 1 : i64, names = ["ab"], layouts = [""], absorbed = []} -> tensor<8x16xf32>
    %y = top.launch @copy ins(%ab : tensor<8x16xf32>) outs(%e16 : tensor<8x16xf32>) {names = ["y"], layouts = [""], absorbed = []} -> tensor<8x16xf32>
    return %y : tensor<8x16xf32>
  }
  func.func private @runs(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %block = pto.get_block_idx
    %number = arith.index_cast %block : i64 to index
    %first = arith.muli %number, %c32 : index
    scf.for %i = %first to %c64 step %c32 {
      %t = pto.alloc_tile : !pto.tile_buf<vec, 1x32xf32>
      %q = pto.addptr %y, %i : <f32> -> <f32>
      %to = pto.make_tensor_view %q, shape = [%c1, %c32], strides = [%c1, %c1] : !pto.tensor_view<1x32xf32>
      %w = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c1, %c32] : !pto.tensor_view<1x32xf32> -> !pto.partition_tensor_view<1x32xf32>
      pto.tstore ins(%t : !pto.tile_buf<vec, 1x32xf32>) outs(%w : !pto.partition_tensor_view<1x32xf32>)
    }
    return
  }
  func.func private @copy(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
  func.func private @concat(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
}

// -----

// Runs that begin inside of a row, and tiles with a gap between their rows, stay runs: the concatenation has its launch.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: top.launch @concat
module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<8x8xf32>) -> tensor<8x16xf32> {
    %e8 = tensor.empty() : tensor<8x8xf32>
    %e16 = tensor.empty() : tensor<8x16xf32>
    %a = top.launch @inside ins(%x : tensor<8x8xf32>) outs(%e8 : tensor<8x8xf32>) {names = ["a"], layouts = [""], absorbed = []} -> tensor<8x8xf32>
    %b = top.launch @inside ins(%x : tensor<8x8xf32>) outs(%e8 : tensor<8x8xf32>) {names = ["b"], layouts = [""], absorbed = []} -> tensor<8x8xf32>
    %ab = top.launch @concat ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e16 : tensor<8x16xf32>) {top.concat_axis = 1 : i64, names = ["ab"], layouts = [""], absorbed = []} -> tensor<8x16xf32>
    %c = top.launch @gap ins(%ab : tensor<8x16xf32>) outs(%e8 : tensor<8x8xf32>) {names = ["c"], layouts = [""], absorbed = []} -> tensor<8x8xf32>
    %d = top.launch @gap ins(%ab : tensor<8x16xf32>) outs(%e8 : tensor<8x8xf32>) {names = ["d"], layouts = [""], absorbed = []} -> tensor<8x8xf32>
    %cd = top.launch @concat ins(%c, %d : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e16 : tensor<8x16xf32>) {top.concat_axis = 1 : i64, names = ["cd"], layouts = [""], absorbed = []} -> tensor<8x16xf32>
    %y = top.launch @copy ins(%cd : tensor<8x16xf32>) outs(%e16 : tensor<8x16xf32>) {names = ["y"], layouts = [""], absorbed = []} -> tensor<8x16xf32>
    return %y : tensor<8x16xf32>
  }
  func.func private @inside(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %t = pto.alloc_tile : !pto.tile_buf<vec, 1x32xf32>
    %q = pto.addptr %y, %c4 : <f32> -> <f32>
    %to = pto.make_tensor_view %q, shape = [%c1, %c32], strides = [%c1, %c1] : !pto.tensor_view<1x32xf32>
    %w = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c1, %c32] : !pto.tensor_view<1x32xf32> -> !pto.partition_tensor_view<1x32xf32>
    pto.tstore ins(%t : !pto.tile_buf<vec, 1x32xf32>) outs(%w : !pto.partition_tensor_view<1x32xf32>)
    return
  }
  func.func private @gap(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %t = pto.alloc_tile : !pto.tile_buf<vec, 2x64xf32, valid=2x32>
    %to = pto.make_tensor_view %y, shape = [%c2, %c32], strides = [%c32, %c1] : !pto.tensor_view<2x32xf32>
    %w = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c2, %c32] : !pto.tensor_view<2x32xf32> -> !pto.partition_tensor_view<2x32xf32>
    pto.tstore ins(%t : !pto.tile_buf<vec, 2x64xf32, valid=2x32>) outs(%w : !pto.partition_tensor_view<2x32xf32>)
    return
  }
  func.func private @copy(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
  func.func private @concat(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
}

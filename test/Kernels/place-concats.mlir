// RUN: pto-opt %s --place-concats | FileCheck %s
// RUN: pto-opt %s --place-concats --plan-global-memory | FileCheck %s --check-prefix=PLACES
// RUN: pto-opt %s --place-concats --plan-global-memory --convert-host-to-vm | FileCheck %s --check-prefix=HOST

// A dense block: each concatenation has one operand more. The smaller one is the first two operands of the larger.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:[a-z0-9_]+]] = top.launch @copy8_placed ins(%{{.*}} : tensor<4x8xf32>)
// CHECK: %[[B:[a-z0-9_]+]] = top.launch @copy8_placed
// CHECK: %[[AB:[a-z0-9_]+]] = tensor.concat dim(1) %[[A]], %[[B]]
// CHECK: %[[C:[a-z0-9_]+]] = top.launch @halves_placed ins(%[[AB]] : tensor<4x16xf32>)
// CHECK: %[[ABC:[a-z0-9_]+]] = tensor.concat dim(1) %[[A]], %[[B]], %[[C]]
// Who reads the whole reads it as before.
// CHECK: top.launch @copy24 ins(%[[ABC]] : tensor<4x24xf32>)
// A reader of an operand alone steps by the same.
// CHECK: top.launch @copy8_placed_1 ins(%[[B]] : tensor<4x8xf32>)
// PLACES: top.launch @copy8_placed {{.*}}places = [#top.place<input, 0>, #top.place<workspace, 0, 320>]
// PLACES: top.launch @copy8_placed {{.*}}places = [#top.place<input, 0>, #top.place<workspace, 32, 320>]
// PLACES: top.launch @halves_placed {{.*}}places = [#top.place<workspace, 0, 352>, #top.place<workspace, 64, 320>]
// PLACES: top.launch @copy24 {{.*}}places = [#top.place<workspace, 0>, #top.place<output, 0>]
// HOST: vm.launch @device.halves_placed(%{{.*}}) offsets = [0, 64] bytes = [352, 320]
module attributes {pto.target_arch = "a3"} {
  func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x24xf32>, tensor<4x8xf32>) {
    %e8 = tensor.empty() : tensor<4x8xf32>
    %e16 = tensor.empty() : tensor<4x16xf32>
    %e24 = tensor.empty() : tensor<4x24xf32>
    %a = top.launch @copy8 ins(%x : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["a"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %b = top.launch @copy8 ins(%x : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["b"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %ab = top.launch @concat2 ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e16 : tensor<4x16xf32>) {top.concat_axis = 1 : i64, names = ["ab"], layouts = [""], absorbed = []} -> tensor<4x16xf32>
    %c = top.launch @halves ins(%ab : tensor<4x16xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["c"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    %abc = top.launch @concat3 ins(%a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) outs(%e24 : tensor<4x24xf32>) {top.concat_axis = 1 : i64, names = ["abc"], layouts = [""], absorbed = []} -> tensor<4x24xf32>
    %y = top.launch @copy24 ins(%abc : tensor<4x24xf32>) outs(%e24 : tensor<4x24xf32>) {names = ["y"], layouts = [""], absorbed = []} -> tensor<4x24xf32>
    %z = top.launch @copy8 ins(%b : tensor<4x8xf32>) outs(%e8 : tensor<4x8xf32>) {names = ["z"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    return %y, %z : tensor<4x24xf32>, tensor<4x8xf32>
  }
  // All launches of it have a pitched argument now: its two copies have.
  // CHECK-NOT: func.func private @copy8(
  // CHECK: func.func private @copy8_placed_1(
  // CHECK: func.func private @copy8_placed(%[[X:[a-z0-9]+]]: !pto.ptr<f32>, %[[Y:[a-z0-9]+]]: !pto.ptr<f32>)
  // CHECK-DAG: %[[IN:.*]] = pto.make_tensor_view %[[X]], shape = [%c4, %c8], strides = [%c8, %c1]
  // CHECK-DAG: %[[OUT:.*]] = pto.make_tensor_view %[[Y]], shape = [%c4, %c8], strides = [%c24{{.*}}, %c1]
  func.func private @copy8(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %from = pto.make_tensor_view %x, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<4x8xf32>
    %to = pto.make_tensor_view %y, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<4x8xf32>
    %p = pto.partition_view %from, offsets = [%c0, %c0], sizes = [%c4, %c8] : !pto.tensor_view<4x8xf32> -> !pto.partition_tensor_view<4x8xf32>
    %q = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c4, %c8] : !pto.tensor_view<4x8xf32> -> !pto.partition_tensor_view<4x8xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 4x8xf32>
    pto.tload ins(%p : !pto.partition_tensor_view<4x8xf32>) outs(%t : !pto.tile_buf<vec, 4x8xf32>)
    pto.tstore ins(%t : !pto.tile_buf<vec, 4x8xf32>) outs(%q : !pto.partition_tensor_view<4x8xf32>)
    return
  }
  // Pieces of a row, by way of a pointer: row * 16 + half * 8 becomes row * 24 + half * 8.
  // CHECK: func.func private @halves_placed(%[[X:[a-z0-9]+]]: !pto.ptr<f32>
  // CHECK: %[[C24:[a-z0-9_]+]] = arith.constant 24 : index
  // CHECK: %[[ROWS:[0-9]+]] = arith.muli %{{.*}}, %[[C24]] : index
  // CHECK: %[[AT:[0-9]+]] = arith.addi %[[ROWS]], %{{.*}} : index
  // CHECK: pto.addptr %[[X]], %[[AT]]
  func.func private @halves(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %block = pto.get_block_idx
    %first = arith.index_cast %block : i64 to index
    scf.for %i = %first to %c8 step %c1 {
      %row = arith.divsi %i, %c2 : index
      %half = arith.remsi %i, %c2 : index
      %rows = arith.muli %row, %c16 : index
      %begin = arith.muli %half, %c8 : index
      %at = arith.addi %rows, %begin : index
      %p = pto.addptr %x, %at : <f32> -> <f32>
      %from = pto.make_tensor_view %p, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<1x8xf32>
      %to = pto.make_tensor_view %y, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<4x8xf32>
      %v = pto.partition_view %from, offsets = [%c0, %c0], sizes = [%c1, %c8] : !pto.tensor_view<1x8xf32> -> !pto.partition_tensor_view<1x8xf32>
      %w = pto.partition_view %to, offsets = [%row, %c0], sizes = [%c1, %c8] : !pto.tensor_view<4x8xf32> -> !pto.partition_tensor_view<1x8xf32>
      %t = pto.alloc_tile : !pto.tile_buf<vec, 1x8xf32>
      pto.tload ins(%v : !pto.partition_tensor_view<1x8xf32>) outs(%t : !pto.tile_buf<vec, 1x8xf32>)
      pto.tstore ins(%t : !pto.tile_buf<vec, 1x8xf32>) outs(%w : !pto.partition_tensor_view<1x8xf32>)
    }
    return
  }
  func.func private @copy24(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
  // CHECK-NOT: @concat
  func.func private @concat2(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
  func.func private @concat3(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %c: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
}

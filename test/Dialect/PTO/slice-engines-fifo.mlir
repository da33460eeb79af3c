// RUN: pto-opt %s --pto-slice-engines | FileCheck %s

// S reads the row index and passes it through the FIFO to the engine that needs it, in the order of the loop.
// CHECK: module @gather
// CHECK: func.func @s(%[[I:.*]]: !pto.ptr<i32>
// CHECK: scf.for
// CHECK: %[[ROW:.*]] = pto.load_scalar %[[I]]
// CHECK: pto.fifo_push %[[ROW]], <PIPE_MTE2> : i32
// CHECK-NOT: pto.fifo_push
// CHECK: func.func @mte2
// CHECK: scf.for
// CHECK: %[[GOT:.*]] = pto.fifo_pop : i32
// CHECK: arith.index_cast %[[GOT]]
// CHECK: pto.tload
// CHECK: func.func @mte3
// CHECK-NOT: pto.fifo_pop
module {
  func.func private @gather(%i: !pto.ptr<i32>, %x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %address = arith.constant 0 : i64
    scf.for %k = %c0 to %c4 step %c1 {
      %row = pto.load_scalar %i[%k] : !pto.ptr<i32> -> i32
      %place = arith.index_cast %row : i32 to index
      %from = arith.muli %place, %c8 : index
      %to = arith.muli %k, %c8 : index
      %px = pto.addptr %x, %from : !pto.ptr<f32> -> !pto.ptr<f32>
      %py = pto.addptr %y, %to : !pto.ptr<f32> -> !pto.ptr<f32>
      %vx = pto.make_tensor_view %px, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<1x8xf32>
      %vy = pto.make_tensor_view %py, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<1x8xf32>
      %wx = pto.partition_view %vx, offsets = [%c0, %c0], sizes = [%c1, %c8] : !pto.tensor_view<1x8xf32> -> !pto.partition_tensor_view<1x8xf32>
      %wy = pto.partition_view %vy, offsets = [%c0, %c0], sizes = [%c1, %c8] : !pto.tensor_view<1x8xf32> -> !pto.partition_tensor_view<1x8xf32>
      %t = pto.alloc_tile addr = %address : !pto.tile_buf<vec, 1x8xf32>
      pto.tload ins(%wx : !pto.partition_tensor_view<1x8xf32>) outs(%t : !pto.tile_buf<vec, 1x8xf32>)
      pto.tstore ins(%t : !pto.tile_buf<vec, 1x8xf32>) outs(%wy : !pto.partition_tensor_view<1x8xf32>)
    }
    return
  }
}

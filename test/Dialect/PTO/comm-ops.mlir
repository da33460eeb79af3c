// Signal cells between devices: text, and the commands of engine S behind the stores that they announce.
// RUN: pto-opt %s | pto-opt | FileCheck %s
// RUN: pto-opt %s -mlir-print-op-generic | pto-opt | FileCheck %s
// RUN: pto-opt %s -pto-insert-sync | FileCheck %s --check-prefix=SYNC

!C = !pto.partition_tensor_view<1xi32>
!V = !pto.tile_buf<vec, 16x16xf32>
// CHECK-LABEL: @signal
// SYNC-LABEL: @signal
func.func @signal(%cells: !pto.ptr<i32>, %data: !pto.ptr<f32>, %x: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %address = arith.constant 0 : i64
  %view = pto.make_tensor_view %cells, shape = [%c1], strides = [%c1] : !pto.tensor_view<?xi32>
  %cell = pto.partition_view %view, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<?xi32> -> !C
  %all = pto.make_tensor_view %data, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %part = pto.partition_view %all, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
  %tile = pto.alloc_tile addr = %address : !V
  pto.tstore ins(%tile : !V) outs(%part : !pto.partition_tensor_view<16x16xf32>)
  // SYNC: pto.tstore
  // SYNC: pto.set_flag[<PIPE_MTE3>, <PIPE_S>
  // SYNC: pto.wait_flag[<PIPE_MTE3>, <PIPE_S>
  // SYNC: pto.comm.tnotify
  // CHECK: pto.comm.tnotify(%{{.*}}, %{{.*}} : !pto.partition_tensor_view<1xi32>, i32) {notifyOp = #pto<notify_op atomic_add>}
  pto.comm.tnotify(%cell, %x : !C, i32) {notifyOp = #pto<notify_op atomic_add>}
  // CHECK: pto.comm.tnotify(%{{.*}}, %{{.*}} : !pto.partition_tensor_view<1xi32>, i32)
  pto.comm.tnotify(%cell, %x : !C, i32) {notifyOp = #pto<notify_op set>}
  // SYNC: pto.comm.twait
  // SYNC: pto.set_flag[<PIPE_S>, <PIPE_MTE2>
  // SYNC: pto.wait_flag[<PIPE_S>, <PIPE_MTE2>
  // SYNC: pto.tload
  // CHECK: pto.comm.twait(%{{.*}}, %{{.*}} : !pto.partition_tensor_view<1xi32>, i32) {cmp = #pto<wait_cmp ge>}
  pto.comm.twait(%cell, %x : !C, i32) {cmp = #pto<wait_cmp ge>}
  // CHECK: pto.comm.twait(%{{.*}}, %{{.*}} : !pto.partition_tensor_view<1xi32>, i32)
  pto.comm.twait(%cell, %x : !C, i32) {cmp = #pto<wait_cmp eq>}
  pto.tload ins(%part : !pto.partition_tensor_view<16x16xf32>) outs(%tile : !V)
  return
}

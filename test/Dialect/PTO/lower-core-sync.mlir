// RUN: pto-opt %s --pto-lower-core-sync | FileCheck %s
// RUN: sed s/a3/a5/ %s | pto-opt --pto-lower-core-sync | FileCheck %s --check-prefix=A5

// On a3 engine S waits for all engines; on a5 the engine itself waits, and the cube core signals each vector core.
// CHECK-LABEL: func.func @vector
// CHECK: pto.cross_wait <PIPE_S>, %c3
// CHECK: %[[TOKEN:.*]] = arith.constant 0 : i32
// CHECK: pto.fifo_push %[[TOKEN]], <PIPE_V>
// CHECK: pto.fifo_pop {pto.pipe = #pto.pipe<PIPE_V>}
// CHECK: pto.fifo_push %[[TOKEN]], <PIPE_MTE3>
// CHECK: pto.fifo_pop {pto.pipe = #pto.pipe<PIPE_MTE3>}
// CHECK-NOT: pto.fifo_push
// CHECK: pto.tabs
// CHECK: pto.cross_set <PIPE_MTE3>, 2, %c4
// A5-LABEL: func.func @vector
// A5-NOT: pto.fifo_push
// A5: pto.cross_wait <PIPE_V>, %c3
// A5: pto.cross_set <PIPE_MTE3>, 3, %c4
// CHECK-LABEL: func.func @cube
// CHECK: pto.cross_set <PIPE_FIX>, 0, %arg0
// A5-LABEL: func.func @cube
// A5: pto.cross_set <PIPE_FIX>, 3, %arg0
// A5: %[[OTHER:.*]] = arith.addi %arg0, %c16
// A5: pto.cross_set <PIPE_FIX>, 3, %[[OTHER]]
!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a3"} {
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %v = pto.alloc_tile : !V
    pto.sync.wait <PIPE_V>, 3
    pto.tabs ins(%v : !V) outs(%v : !V)
    pto.sync.set <PIPE_MTE3>, 4
    return
  }
  func.func @cube(%id: index) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    pto.sync.set <PIPE_FIX>, %id {ffts_mode = 0 : i32}
    return
  }
}

// RUN: pto-opt %s | pto-opt | FileCheck %s

// CHECK-LABEL: func.func @fifo
// CHECK: pto.fifo_push %{{.*}}, <PIPE_MTE2> : i32
// CHECK: pto.fifo_pop : index
func.func @fifo(%row: i32) -> index {
  pto.fifo_push %row, <PIPE_MTE2> : i32
  %place = pto.fifo_pop : index
  return %place : index
}

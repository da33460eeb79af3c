// Every form of these ops parses, verifies and round-trips.
// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s

!F = !pto.tile_buf<scaling, 1x32xf32>
!V = !pto.tile_buf<vec, 32x32xf32>

// CHECK-LABEL: func.func @forms
func.func @forms(%e: f32, %f: !F, %v: !V, %x1: index) {
  // CHECK: pto.tsetval{{[^a-z_.]|$}}
  pto.tsetval ins(%x1, %e : index, f32) outs(%v : !V)
  // CHECK: pto.tgetval{{[^a-z_.]|$}}
  %r0 = pto.tgetval ins(%v, %x1 : !V, index) outs : f32
  // CHECK: pto.tprint{{[^a-z_.]|$}}
  pto.tprint ins(%v : !V)
  // CHECK: pto.print{{[^a-z_.]|$}}
  pto.print ins("v=%f", %e : f32)
  // CHECK: pto.trap{{[^a-z_.]|$}}
  pto.trap
  // CHECK: pto.get_block_idx{{[^a-z_.]|$}}
  %r1 = pto.get_block_idx
  // CHECK: pto.get_block_num{{[^a-z_.]|$}}
  %r2 = pto.get_block_num
  // CHECK: pto.get_subblock_idx{{[^a-z_.]|$}}
  %r3 = pto.get_subblock_idx
  // CHECK: pto.get_subblock_num{{[^a-z_.]|$}}
  %r4 = pto.get_subblock_num
  // CHECK: pto.kernel_size{{[^a-z_.]|$}}
  %r5 = pto.kernel_size 0 greatest 512 : index
  // CHECK: pto.set_flag{{[^a-z_.]|$}}
  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  // CHECK: pto.wait_flag{{[^a-z_.]|$}}
  pto.wait_flag[#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_V>, #pto.event<EVENT_ID7>]
  // CHECK: pto.set_flag_dyn{{[^a-z_.]|$}}
  pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %x1]
  // CHECK: pto.wait_flag_dyn{{[^a-z_.]|$}}
  pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %x1]
  // CHECK: pto.barrier{{[^a-z_.]|$}}
  pto.barrier <PIPE_V>
  // CHECK: pto.section.cube{{[^a-z_.]|$}}
  pto.section.cube { }
  // CHECK: pto.section.vector{{[^a-z_.]|$}}
  pto.section.vector { }
  return
}

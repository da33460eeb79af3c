// RUN: pto-opt %s --pto-split-cores -verify-diagnostics

!V = !pto.tile_buf<vec, 32x32xf32>
!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!G = !pto.partition_tensor_view<32x32xf32>
func.func @k(%x: index) {
  %v = pto.alloc_tile : !V
  %a = pto.alloc_tile : !A
  // expected-error @below {{makes a value that the cube core needs}}
  %size = pto.tgetval ins(%v, %x : !V, index) outs : f32
  pto.section.cube {
    pto.print ins("%f", %size : f32)
  }
  pto.section.vector {
    pto.texp ins(%v : !V) outs(%v : !V)
  }
  return
}

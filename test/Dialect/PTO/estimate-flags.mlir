// The estimate, made before there are flags, is what the commands take, flags included.
// RUN: pto-opt %s --pto-estimate=num-core=1 | grep -o 'pto.estimate = [0-9.e+]*' | awk '{printf "%.1f\n", $3}' > %t.estimate
// RUN: pto-compile %s -o %t.pmodel
// RUN: pmodel_tool --estimate %t.pmodel | awk '/given_back_late/ {print $1}' > %t.commands
// RUN: grep '[0-9]' %t.estimate
// RUN: diff %t.estimate %t.commands

// The flag that gives %a back is raised behind the inner loop, although the loop's first trip alone reads it: the loads
// overlap none of the exponentials.
func.func @given_back_late(%in: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %v = pto.make_tensor_view %in, shape = [%c64, %c64], strides = [%c64, %c1] : !pto.tensor_view<64x64xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c64, %c64] : !pto.tensor_view<64x64xf32> -> !pto.partition_tensor_view<64x64xf32>
  %a = pto.alloc_tile : !pto.tile_buf<vec, 64x64xf32>
  %b = pto.alloc_tile : !pto.tile_buf<vec, 64x64xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    pto.tload ins(%p : !pto.partition_tensor_view<64x64xf32>) outs(%a : !pto.tile_buf<vec, 64x64xf32>)
    scf.for %j = %c0 to %c4 step %c1 {
      %first = arith.cmpi eq, %j, %c0 : index
      scf.if %first {
        pto.texp ins(%a : !pto.tile_buf<vec, 64x64xf32>) outs(%b : !pto.tile_buf<vec, 64x64xf32>)
      } else {
        pto.texp ins(%b : !pto.tile_buf<vec, 64x64xf32>) outs(%b : !pto.tile_buf<vec, 64x64xf32>)
      }
    }
  }
  return
}

// RUN: pto-opt %s --pto-print-commands -o /dev/null | FileCheck %s

// relu over [100, 64] in blocks of 16 rows; the last block is ragged.
// CHECK-LABEL: kernel @relu: 2 arguments, 2 events, UB 4096
// CHECK: AIV MTE2: 8 commands, 35 words
// CHECK-NEXT: loop r0, lb=0, ub=100, step=16
// CHECK-NEXT:   sub r1, lhs=100, rhs=r0
// CHECK-NEXT:   min r2, lhs=r1, rhs=16
// CHECK-NEXT:   mul r1, lhs=r0, rhs=256
// CHECK-NEXT:   tload UB[0]<16x64xf32 valid=r2x64>, arg0[r1]<r2x64xf32 strides=64,1>, space=UB
// CHECK-NEXT:   set_flag src=MTE2 dst=V, id=0
// CHECK-NEXT: end
// CHECK-NEXT: barrier pipe=ALL
// CHECK: AIV V:
// CHECK: wait_flag src=MTE2 dst=V, id=0
// CHECK: trelu UB[0]<16x64xf32 valid=r{{[0-9]+}}x64>, UB[0]<16x64xf32 valid=r{{[0-9]+}}x64>
// CHECK: set_flag src=V dst=MTE3, id=1
// CHECK: AIV MTE3:
// CHECK: tstore arg1[r{{[0-9]+}}]<r{{[0-9]+}}x64xf32 strides=64,1>, UB[0]<16x64xf32 valid=r{{[0-9]+}}x64>, atomic=none space=UB
module {
  module @relu attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @mte2(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {pto.pipe = #pto.pipe<PIPE_MTE2>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %c100 = arith.constant 100 : index
      %addr = arith.constant 0 : i64
      %v = pto.make_tensor_view %a, shape = [%c100, %c64], strides = [%c64, %c1] : !pto.tensor_view<100x64xf32>
      scf.for %i = %c0 to %c100 step %c16 {
        %left = arith.subi %c100, %i : index
        %n = arith.minsi %left, %c16 : index
        %p = pto.partition_view %v, offsets = [%i, %c0], sizes = [%n, %c64] : !pto.tensor_view<100x64xf32> -> !pto.partition_tensor_view<?x64xf32>
        %t = pto.alloc_tile addr = %addr valid_row = %n : !pto.tile_buf<vec, 16x64xf32, valid=?x64>
        pto.tload ins(%p : !pto.partition_tensor_view<?x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32, valid=?x64>)
        pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
      }
      return
    }
    func.func @v(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c100 = arith.constant 100 : index
      %addr = arith.constant 0 : i64
      scf.for %i = %c0 to %c100 step %c16 {
        %left = arith.subi %c100, %i : index
        %n = arith.minsi %left, %c16 : index
        %t = pto.alloc_tile addr = %addr valid_row = %n : !pto.tile_buf<vec, 16x64xf32, valid=?x64>
        pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
        pto.trelu ins(%t : !pto.tile_buf<vec, 16x64xf32, valid=?x64>) outs(%t : !pto.tile_buf<vec, 16x64xf32, valid=?x64>)
        pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>]
      }
      return
    }
    func.func @mte3(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {pto.pipe = #pto.pipe<PIPE_MTE3>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %c100 = arith.constant 100 : index
      %addr = arith.constant 0 : i64
      %v = pto.make_tensor_view %b, shape = [%c100, %c64], strides = [%c64, %c1] : !pto.tensor_view<100x64xf32>
      scf.for %i = %c0 to %c100 step %c16 {
        %left = arith.subi %c100, %i : index
        %n = arith.minsi %left, %c16 : index
        %p = pto.partition_view %v, offsets = [%i, %c0], sizes = [%n, %c64] : !pto.tensor_view<100x64xf32> -> !pto.partition_tensor_view<?x64xf32>
        %t = pto.alloc_tile addr = %addr valid_row = %n : !pto.tile_buf<vec, 16x64xf32, valid=?x64>
        pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>]
        pto.tstore ins(%t : !pto.tile_buf<vec, 16x64xf32, valid=?x64>) outs(%p : !pto.partition_tensor_view<?x64xf32>)
      }
      return
    }
  }
}

// RUN: pto-opt %s --pto-print-commands -o /dev/null | FileCheck %s

!V = !pto.tile_buf<vec, 32x64xf32>
!DYN = !pto.tile_buf<vec, 32x64xf32, valid=?x64>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!CD = !pto.tile_buf<vec, 32x1xf32, valid=?x1, blayout=col_major>
!R = !pto.tile_buf<vec, 1x32xf32>
!RD = !pto.tile_buf<vec, 1x32xf32, valid=1x?>
module {
  // CHECK-LABEL: kernel @aliases: 1 arguments, 0 events, UB 16512
  module @aliases attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @v(%a: !pto.ptr<f32>) attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      %c8 = arith.constant 8 : index
      %c0 = arith.constant 0 : index
      %a0 = arith.constant 0 : i64
      %a2 = arith.constant 2 : i64
      %size = arith.constant 8192 : i64
      %a16384 = arith.constant 16384 : i64
      %half = arith.constant 0.5 : f32
      %minus = arith.constant -1.0 : f32
      %t = pto.alloc_tile addr = %a0 : !V
      // Rows 8 to 15: an offset of 8 * 64 * 4 bytes.
      // CHECK: tmuls UB[2048]<8x64xf32>, UB[2048]<8x64xf32>, scalar=1056964608
      %s = pto.subset %t[%c8, %c0] sizes [8, 64] : !V
      pto.tmuls ins(%s, %half : !pto.tile_buf<vec, 8x64xf32>, f32) outs(%s : !pto.tile_buf<vec, 8x64xf32>)
      // A double buffer: base + parity * size.
      // CHECK: get r0, what=block_idx
      // CHECK-NEXT: rem r1, lhs=r0, rhs=2
      // CHECK-NEXT: mul r0, lhs=r1, rhs=8192
      // CHECK-NEXT: trowsum UB[16384]<32x1xf32 dn>, UB[r0]<32x64xf32>
      %b = pto.get_block_idx
      %parity = arith.remsi %b, %a2 : i64
      %addr = arith.muli %parity, %size : i64
      %d = pto.alloc_tile addr = %addr : !V
      %col = pto.alloc_tile addr = %a16384 : !C
      pto.trowsum ins(%d, %d : !V, !V) outs(%col : !C)
      // A column of sums as a row.
      // CHECK-NEXT: tadds UB[16384]<1x32xf32>, UB[16384]<1x32xf32>, scalar=3212836864
      %row = pto.treshape %col : !C -> !R
      pto.tadds ins(%row, %minus : !R, f32) outs(%row : !R)
      // The same with a dynamic valid part, and division in both operand orders.
      // CHECK: tdivs UB[16384]<1x32xf32 valid=1x[[N:r[0-9]+]]>, UB[16384]<1x32xf32 valid=1x[[N]]>, scalar=1056964608
      // CHECK-NEXT: tdivs_rev
      // CHECK-NEXT: trowexpandmul UB[0]<32x64xf32 valid=[[N]]x64>, UB[0]<32x64xf32 valid=[[N]]x64>, UB[16384]<32x1xf32 valid=[[N]]x1 dn>
      // CHECK-NEXT: texpands UB[0]<32x64xf32>, scalar=3212836864
      %n64 = pto.get_block_num
      %n = arith.index_cast %n64 : i64 to index
      %cd = pto.alloc_tile addr = %a16384 valid_row = %n : !CD
      %td = pto.alloc_tile addr = %a0 valid_row = %n : !DYN
      %rd = pto.treshape %cd : !CD -> !RD
      pto.tdivs ins(%rd, %half : !RD, f32) outs(%rd : !RD)
      pto.tdivs ins(%half, %rd : f32, !RD) outs(%rd : !RD)
      pto.trowexpandmul ins(%td, %cd : !DYN, !CD) outs(%td : !DYN)
      pto.texpands ins(%minus : f32) outs(%t : !V)
      return
    }
  }

  // CHECK-LABEL: kernel @convert
  // CHECK: tcvt UB[0]<32x64xf16>, UB[8192]<32x64xf32>, rounding=rint saturate=off
  // CHECK-NEXT: tcvt UB[0]<32x64xf16>, UB[8192]<32x64xf32>, rounding=floor saturate=on
  // CHECK-NEXT: tcmps UB[0]<32x32xi8 valid=32x8>, UB[8192]<32x64xf32>, scalar=0, mode=ge
  module @convert attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @v() attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      %a0 = arith.constant 0 : i64
      %a8192 = arith.constant 8192 : i64
      %zero = arith.constant 0.0 : f32
      %h = pto.alloc_tile addr = %a0 : !pto.tile_buf<vec, 32x64xf16>
      %f = pto.alloc_tile addr = %a8192 : !V
      %m = pto.alloc_tile addr = %a0 : !pto.tile_buf<vec, 32x32xi8, valid=32x8>
      pto.tcvt ins(%f : !V) outs(%h : !pto.tile_buf<vec, 32x64xf16>)
      pto.tcvt ins(%f {rmode = #pto<round_mode FLOOR>, sat_mode = #pto<saturation_mode ON>} : !V) outs(%h : !pto.tile_buf<vec, 32x64xf16>)
      pto.tcmps ins(%f, %zero {cmpMode = #pto<cmp ge>} : !V, f32) outs(%m : !pto.tile_buf<vec, 32x32xi8, valid=32x8>)
      return
    }
  }
}

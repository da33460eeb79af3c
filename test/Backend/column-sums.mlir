// RUN: pto-opt %s --pto-print-commands -o /dev/null | FileCheck %s

// Five rows by halves: every second row is a row of a tile of twice the columns; the last tile ends where UB does.
// CHECK-LABEL: kernel @halves
// CHECK: AIV V:
// CHECK: tadd UB[1024]<2x64xf16>, UB[195968]<2x128xf16 valid=2x64>, UB[196096]<2x128xf16 valid=2x64>
// CHECK-NEXT: tadd UB[1024]<1x64xf16>, UB[1024]<1x64xf16>, UB[196480]<1x64xf16>
// CHECK-NEXT: tadd UB[0]<1x64xf16>, UB[1024]<1x128xf16 valid=1x64>, UB[1152]<1x128xf16 valid=1x64>
// In order: without scratch memory, where it is too small, where the number of rows is not known, and if so said.
// CHECK-NEXT: tcolsum UB[0]<1x64xf16>, UB[195968]<5x64xf16>
// CHECK-NEXT: tcolsum UB[0]<1x64xf16>, UB[195968]<5x64xf16>
// CHECK-NEXT: tcolsum UB[0]<1x64xf16>, UB[195968]<5x64xf16>
// CHECK-NEXT: tcolsum UB[0]<1x64xf16>, UB[195968]<5x64xf16 valid=r{{[0-9]+}}x64>
module {
  module @halves attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @v(%a: !pto.ptr<f16>, %n: index) attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      %dst = arith.constant 0 : i64
      %scratch = arith.constant 1024 : i64
      %last = arith.constant 195968 : i64
      %r = pto.alloc_tile addr = %dst : !pto.tile_buf<vec, 1x64xf16>
      %t = pto.alloc_tile addr = %scratch : !pto.tile_buf<vec, 2x64xf16>
      %u = pto.alloc_tile addr = %scratch : !pto.tile_buf<vec, 1x64xf16>
      %v = pto.alloc_tile addr = %last : !pto.tile_buf<vec, 5x64xf16>
      %w = pto.alloc_tile addr = %last valid_row = %n : !pto.tile_buf<vec, 5x64xf16, valid=?x64>
      pto.tcolsum ins(%v, %t {isBinary = true} : !pto.tile_buf<vec, 5x64xf16>, !pto.tile_buf<vec, 2x64xf16>) outs(%r : !pto.tile_buf<vec, 1x64xf16>)
      pto.tcolsum ins(%v : !pto.tile_buf<vec, 5x64xf16>) outs(%r : !pto.tile_buf<vec, 1x64xf16>)
      pto.tcolsum ins(%v, %u {isBinary = true} : !pto.tile_buf<vec, 5x64xf16>, !pto.tile_buf<vec, 1x64xf16>) outs(%r : !pto.tile_buf<vec, 1x64xf16>)
      pto.tcolsum ins(%v, %t {isBinary = false} : !pto.tile_buf<vec, 5x64xf16>, !pto.tile_buf<vec, 2x64xf16>) outs(%r : !pto.tile_buf<vec, 1x64xf16>)
      pto.tcolsum ins(%w, %t {isBinary = true} : !pto.tile_buf<vec, 5x64xf16, valid=?x64>, !pto.tile_buf<vec, 2x64xf16>) outs(%r : !pto.tile_buf<vec, 1x64xf16>)
      return
    }
  }
}

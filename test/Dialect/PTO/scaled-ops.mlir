// Every form of these ops parses, verifies and round-trips.
// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s
// RUN: pto-opt %s -mlir-print-op-generic | pto-opt | FileCheck %s

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!A1 = !pto.tile_buf<acc, 32x32xf32, valid=1x32, blayout=col_major, slayout=row_major, fractal=1024>
!B = !pto.tile_buf<vec, 32x32xi8>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!L = !pto.tile_buf<left, 32x32xf8E4M3FN, slayout=row_major>
!L1 = !pto.tile_buf<left, 32x32xf8E4M3FN, valid=1x32, slayout=row_major>
!S = !pto.tile_buf<scaling, 32x32xf8E4M3FN>
!S1 = !pto.tile_buf<scaling, 32x32xf8E4M3FN, valid=1x32>
!T = !pto.tile_buf<right, 32x32xf8E5M2, slayout=col_major>
!U = !pto.tile_buf<vec, 32x32xui8>
!V = !pto.tile_buf<vec, 32x32xf32>
!Z = !pto.tile_buf<bias, 1x32xf32>
!LK = !pto.tile_buf<left, 32x64xf8E4M3FN, slayout=row_major>
!RK = !pto.tile_buf<right, 64x32xf8E5M2, slayout=col_major>
!SA = !pto.tile_buf<scaling, 32x64xui8>
!SB = !pto.tile_buf<scaling, 64x32xui16>
!MA = !pto.tile_buf<mat, 32x4xui8>
!MB = !pto.tile_buf<mat, 1x32xui16>

module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @quantise
  func.func @quantise(%v: !V, %c: !C, %c1: !C, %b: !B, %u: !U) {
    // CHECK: pto.tquant ins(%arg0, %arg1 : {{.*}}) outs(%arg3 : {{.*}}) {quant_type = #pto<quant_type INT8_SYM>}
    pto.tquant ins(%v, %c : !V, !C) outs(%b : !B) {quant_type = #pto<quant_type INT8_SYM>}
    // CHECK: pto.tquant ins(%arg0, %arg1, %arg2 : {{.*}}) outs(%arg4 : {{.*}}) {quant_type = #pto<quant_type INT8_ASYM>}
    pto.tquant ins(%v, %c, %c1 : !V, !C, !C) outs(%u : !U) {quant_type = #pto<quant_type INT8_ASYM>}
    // CHECK: pto.tdequant ins(%arg3, %arg1, %arg2 : {{.*}}) outs(%arg0 :
    pto.tdequant ins(%b, %c, %c1 : !B, !C, !C) outs(%v : !V)
    return
  }

  // CHECK-LABEL: func.func @products
  // CHECK-SAME: !pto.tile_buf<left, 32x32xf8E4M3FN, blayout=col_major, slayout=row_major>
  func.func @products(%l: !L, %s: !S, %t: !T, %s1: !S, %a: !A, %z: !Z) {
    // CHECK: pto.tget_scale_addr ins(%arg0 :
    pto.tget_scale_addr ins(%l : !L) outs(%s : !S)
    // CHECK: pto.tmatmul.mx ins(%arg0, %arg1, %arg2, %arg3 : {{.*}}) outs(%arg4 :
    pto.tmatmul.mx ins(%l, %s, %t, %s1 : !L, !S, !T, !S) outs(%a : !A)
    // CHECK: pto.tmatmul.mx.acc ins(%arg4, %arg0, %arg1, %arg2, %arg3 : {{.*}}) outs(%arg4 :
    pto.tmatmul.mx.acc ins(%a, %l, %s, %t, %s1 : !A, !L, !S, !T, !S) outs(%a : !A)
    // CHECK: pto.tmatmul.mx.bias ins(%arg0, %arg1, %arg2, %arg3, %arg5 : {{.*}}) outs(%arg4 :
    pto.tmatmul.mx.bias ins(%l, %s, %t, %s1, %z : !L, !S, !T, !S, !Z) outs(%a : !A)
    return
  }

  // CHECK-LABEL: func.func @vector_products
  func.func @vector_products(%l: !L1, %s: !S1, %t: !T, %s1: !S, %a: !A1, %z: !Z) {
    // CHECK: pto.tgemv.mx ins(%arg0, %arg1, %arg2, %arg3 :
    pto.tgemv.mx ins(%l, %s, %t, %s1 : !L1, !S1, !T, !S) outs(%a : !A1)
    // CHECK: pto.tgemv.mx.acc ins(%arg4, %arg0, %arg1, %arg2, %arg3 :
    pto.tgemv.mx.acc ins(%a, %l, %s, %t, %s1 : !A1, !L1, !S1, !T, !S) outs(%a : !A1)
    // CHECK: pto.tgemv.mx.bias ins(%arg0, %arg1, %arg2, %arg3, %arg5 :
    pto.tgemv.mx.bias ins(%l, %s, %t, %s1, %z : !L1, !S1, !T, !S, !Z) outs(%a : !A1)
    return
  }

  // A tile in Mat has an element for each group of 32 along k; of 16 bits, for each pair.
  // CHECK-LABEL: func.func @scales
  func.func @scales(%l: !LK, %r: !RK, %m: !MA, %n: !MB, %s: !SA, %t: !SB, %a: !A) {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    // CHECK: pto.textract ins(%arg2, %{{.*}}, %{{.*}} : !pto.tile_buf<mat, 32x4xui8>, {{.*}}) outs(%arg4 :
    pto.textract ins(%m, %zero, %two : !MA, index, index) outs(%s : !SA)
    // CHECK: pto.textract ins(%arg3, %{{.*}}, %{{.*}} : !pto.tile_buf<mat, 1x32xui16>, {{.*}}) outs(%arg5 :
    pto.textract ins(%n, %zero, %zero : !MB, index, index) outs(%t : !SB)
    pto.tmatmul.mx ins(%l, %s, %r, %t : !LK, !SA, !RK, !SB) outs(%a : !A)
    return
  }
}

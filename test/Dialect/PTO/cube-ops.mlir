// Every form of these ops parses, verifies and round-trips.
// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!AG = !pto.tile_buf<acc, 16x32xf32, valid=1x32, blayout=col_major, slayout=row_major, fractal=1024>
!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!LG = !pto.tile_buf<left, 16x32xf16, valid=1x32, slayout=row_major>
!T = !pto.tile_buf<right, 32x32xf16, slayout=col_major>
!Z = !pto.tile_buf<bias, 1x32xf32>

// CHECK-LABEL: func.func @forms
func.func @forms(%a: !A, %ag: !AG, %l: !L, %lg: !LG, %t: !T, %z: !Z) {
  // CHECK: pto.tmatmul{{[^a-z_.]|$}}
  pto.tmatmul ins(%l, %t : !L, !T) outs(%a : !A)
  // CHECK: pto.tmatmul.acc{{[^a-z_.]|$}}
  pto.tmatmul.acc ins(%a, %l, %t : !A, !L, !T) outs(%a : !A)
  // CHECK: pto.tmatmul.bias{{[^a-z_.]|$}}
  pto.tmatmul.bias ins(%l, %t, %z : !L, !T, !Z) outs(%a : !A)
  // CHECK: pto.tgemv{{[^a-z_.]|$}}
  pto.tgemv ins(%lg, %t : !LG, !T) outs(%ag : !AG)
  // CHECK: pto.tgemv.acc{{[^a-z_.]|$}}
  pto.tgemv.acc ins(%ag, %lg, %t : !AG, !LG, !T) outs(%ag : !AG)
  // CHECK: pto.tgemv.bias{{[^a-z_.]|$}}
  pto.tgemv.bias ins(%lg, %t, %z : !LG, !T, !Z) outs(%ag : !AG)
  return
}

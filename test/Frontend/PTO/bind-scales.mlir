// RUN: pto-opt %s --pto-bind-scales -split-input-file -verify-diagnostics | FileCheck %s

!L = !pto.tile_buf<left, 32x64xf8E4M3FN, slayout=row_major>
!R = !pto.tile_buf<right, 64x32xf8E4M3FN, slayout=col_major>
!SA = !pto.tile_buf<scaling, 32x64xui8>
!SB = !pto.tile_buf<scaling, 64x32xui8>
!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!M = !pto.tile_buf<mat, 32x64xui8>
!F = !pto.tile_buf<scaling, 1x32xi64>
!MF = !pto.tile_buf<mat, 1x32xi64>
module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @sides
  func.func @sides(%m: !M, %mf: !MF) {
    %l = pto.alloc_tile : !L
    %r = pto.alloc_tile : !R
    %acc = pto.alloc_tile : !A
    // CHECK: %[[SA:.*]] = pto.alloc_tile {pto.scales = "left"} : !pto.tile_buf<scaling, 32x64xui8>
    %sa = pto.alloc_tile : !SA
    %again = pto.alloc_tile : !SA
    // CHECK: %[[SB:.*]] = pto.alloc_tile {pto.scales = "right"} : !pto.tile_buf<scaling, 64x32xui8>
    %sb = pto.alloc_tile : !SB
    // CHECK: %[[F:.*]] = pto.alloc_tile : !pto.tile_buf<scaling, 1x32xi64>
    %f = pto.alloc_tile : !F
    // CHECK-NOT: tget_scale_addr
    pto.tget_scale_addr ins(%l : !L) outs(%sa : !SA)
    pto.tget_scale_addr ins(%l : !L) outs(%again : !SA)
    // CHECK: pto.tmov ins(%{{.*}}) outs(%[[SA]] :
    pto.tmov ins(%m : !M) outs(%again : !SA)
    pto.tmov ins(%mf : !MF) outs(%f : !F)
    // CHECK: pto.tmatmul.mx ins(%{{.*}}, %[[SA]], %{{.*}}, %[[SB]] :
    pto.tmatmul.mx ins(%l, %sa, %r, %sb : !L, !SA, !R, !SB) outs(%acc : !A)
    return
  }
  // CHECK-LABEL: func.func @for_nobody
  // CHECK-NOT: textract
  func.func @for_nobody(%m: !M, %x: index) {
    %s = pto.alloc_tile : !SA
    pto.textract ins(%m, %x, %x : !M, index, index) outs(%s : !SA)
    return
  }
}

// -----

!L = !pto.tile_buf<left, 32x64xf8E4M3FN, slayout=row_major>
!SA = !pto.tile_buf<scaling, 32x64xui8>
!SI = !pto.tile_buf<scaling, 32x64xi8>
module attributes {pto.target_arch = "a5"} {
  func.func @types(%l: !L) {
    %a = pto.alloc_tile : !SA
    %b = pto.alloc_tile : !SI
    pto.tget_scale_addr ins(%l : !L) outs(%a : !SA)
    // expected-error @below {{where another one of '!pto.tile_buf<scaling, 32x64xui8>' is bound}}
    pto.tget_scale_addr ins(%l : !L) outs(%b : !SI)
    return
  }
}

// -----

!L = !pto.tile_buf<left, 32x64xf8E4M3FN, slayout=row_major>
!SA = !pto.tile_buf<scaling, 32x64xui8>
module attributes {pto.target_arch = "a5"} {
  func.func @branches(%l: !L, %c: i1) {
    scf.if %c {
      %a = pto.alloc_tile : !SA
      pto.tget_scale_addr ins(%l : !L) outs(%a : !SA)
    } else {
      %b = pto.alloc_tile : !SA
      // expected-error @below {{binds scales to an operand that another branch binds scales to}}
      pto.tget_scale_addr ins(%l : !L) outs(%b : !SA)
    }
    return
  }
}

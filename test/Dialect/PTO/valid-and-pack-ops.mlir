// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s
// RUN: pto-opt %s -mlir-print-op-generic | pto-opt | FileCheck %s

!D = !pto.tile_buf<vec, 32x32xf32, valid=?x?>
!I = !pto.tile_buf<vec, 32x32xi32>
!S = !pto.tile_buf<vec, 32x32xi16>

module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @forms
  func.func @forms(%x8: index, %x16: index, %i: !I, %s: !S, %a: !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major>,
                   %m: !pto.tile_buf<mat, 16x16xi8, blayout=col_major, slayout=row_major>, %q: i64) {
    %dyn = pto.alloc_tile valid_row = %x16 valid_col = %x16 : !D
    // CHECK: pto.set_validshape %{{.*}}, %{{.*}}, %{{.*}} : !pto.tile_buf<vec, 32x32xf32, valid=?x?>
    pto.set_validshape %dyn, %x8, %x16 : !D
    // CHECK: pto.tpack ins(%{{.*}} : !pto.tile_buf<vec, 32x32xi32>) outs(%{{.*}} : !pto.tile_buf<vec, 32x32xi16>)
    pto.tpack ins(%i : !I) outs(%s : !S)
    // The generic form has the operands of the public assembler, in its order.
    // CHECK: pto.tmov ins(%{{.*}} : !pto.tile_buf<acc, {{.*}}>, %{{.*}} : i64) outs(%{{.*}} : !pto.tile_buf<mat, {{.*}}>)
    "pto.tmov"(%a, %m, %q) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major>, !pto.tile_buf<mat, 16x16xi8, blayout=col_major, slayout=row_major>, i64) -> ()
    return
  }
}

// Legal element types are those of the row that an op names (ISA/*.td), per architecture.
// RUN: pto-opt %s -split-input-file -verify-diagnostics

!U = !pto.tile_buf<vec, 32x32xui32>
func.func @unsigned_on_a3(%t: !U) {
  // expected-error @below {{does not work on 'ui32' on a3; expects one of f16 f32 i16 i32}}
  pto.tadd ins(%t, %t : !U, !U) outs(%t : !U)
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi64>
module attributes {pto.target_arch = "a5"} {
  func.func @wide_on_a5(%t: !I) {
    // expected-error @below {{does not work on 'i64' on a5; expects one of f16 f32 i16 i32 ui8 i8 ui16 ui32 bf16}}
    pto.tadd ins(%t, %t : !I, !I) outs(%t : !I)
    return
  }
}

// -----

// The instruction would do it; the assembler refuses it.
!I = !pto.tile_buf<vec, 32x32xi32>
func.func @refused_on_a3(%t: !I) {
  // expected-error @below {{does not work on 'i32' on a3; expects one of i16 ui16}}
  pto.tnot ins(%t : !I) outs(%t : !I)
  return
}

// -----

!H = !pto.tile_buf<vec, 32x32xf16>
func.func @remainder_on_a3(%t: !H, %k: f16) {
  // expected-error @below {{does not work on 'f16' on a3; expects one of f32 i32}}
  pto.trems ins(%t, %k, %t : !H, f16, !H) outs(%t : !H)
  return
}

// -----

// What is wrong on a3 is legal on a5.
!H = !pto.tile_buf<vec, 32x32xf16>
!B = !pto.tile_buf<vec, 32x32xbf16>
!U = !pto.tile_buf<vec, 32x32xui32>
!V = !pto.tile_buf<vec, 32x32xf32>
!F8 = !pto.tile_buf<vec, 32x32xf8E4M3FN>
module attributes {pto.target_arch = "a5"} {
  func.func @legal_on_a5(%h: !H, %b: !B, %u: !U, %v: !V, %f: !F8, %k: f16) {
    pto.tadd ins(%u, %u : !U, !U) outs(%u : !U)
    pto.tadd ins(%b, %b : !B, !B) outs(%b : !B)
    pto.trems ins(%h, %k, %h : !H, f16, !H) outs(%h : !H)
    pto.tcvt ins(%v {rmode = #pto<round_mode RINT>} : !V) outs(%f : !F8)
    return
  }
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!F8 = !pto.tile_buf<vec, 32x32xf8E4M3FN>
func.func @conversion_on_a3(%v: !V, %f: !F8) {
  // expected-error @below {{expects a destination of f16, f32, bf16, i16, i32 or i64 for 'f32' on a3, got 'f8E4M3FN'}}
  pto.tcvt ins(%v {rmode = #pto<round_mode RINT>} : !V) outs(%f : !F8)
  return
}

// -----

!D = !pto.tile_buf<vec, 32x32xf64>
!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @conversion_source(%d: !D, %v: !V) {
    // expected-error @below {{does not work on 'f64' on a5; expects one of f32 f16 bf16 i16 i32 i64 ui8 i8 i4}}
    pto.tcvt ins(%d {rmode = #pto<round_mode RINT>} : !D) outs(%v : !V)
    return
  }
}

// -----

!W = !pto.tile_buf<vec, 32x32xi16>
!C = !pto.tile_buf<vec, 32x1xi32, blayout=col_major>
func.func @arg_source_on_a3(%w: !W, %c: !C) {
  // expected-error @below {{does not work on 'i16' on a3; expects one of f32 f16}}
  pto.trowargmax ins(%w, %w : !W, !W) outs(%c : !C)
  return
}

// -----

!H = !pto.tile_buf<vec, 32x32xf16>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
module attributes {pto.target_arch = "a5"} {
  func.func @arg_destination(%h: !H, %c: !C) {
    // expected-error @below {{expects a destination of i32 or ui32 for 'f16' on a5, got 'f32'}}
    pto.trowargmax ins(%h, %h : !H, !H) outs(%c : !C)
    return
  }
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!C = !pto.tile_buf<vec, 32x1xf16, blayout=col_major>
func.func @sum_destination(%v: !V, %c: !C) {
  // expected-error @below {{expects a destination of f32 for 'f32' on a3, got 'f16'}}
  pto.trowsum ins(%v, %v : !V, !V) outs(%c : !C)
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf8E4M3FN>
!R = !pto.tile_buf<right, 32x32xf8E4M3FN>
!A = !pto.tile_buf<acc, 32x32xf32>
func.func @product_on_a3(%l: !L, %r: !R, %a: !A) {
  // expected-error @below {{does not work on 'f8E4M3FN' on a3; expects one of f32 f16 bf16 i8}}
  pto.tmatmul ins(%l, %r : !L, !R) outs(%a : !A)
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf32>
!R = !pto.tile_buf<right, 32x32xf16>
!A = !pto.tile_buf<acc, 32x32xf32>
func.func @product_of_two_types(%l: !L, %r: !R, %a: !A) {
  // expected-error @below {{does not work on 'f32' and 'f16' on a3; expects all of one type, one of f32 f16 bf16 i8}}
  pto.tmatmul ins(%l, %r : !L, !R) outs(%a : !A)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @operand_with_types_of_its_own(%v: !V) {
  // expected-error @below {{expects mask of i8, ui8 or ui32, got 'f32'}}
  pto.tsel ins(%v, %v, %v, %v : !V, !V, !V, !V) outs(%v : !V)
  return
}

// -----

// Views are looked at, too; what is neither a tile nor a view is not.
!G = !pto.partition_tensor_view<32x32xf16>
!V = !pto.tile_buf<vec, 32x32xf32>
!I = !pto.tile_buf<vec, 32x32xi32>
module attributes {pto.target_arch = "a5"} {
  func.func @view(%g: !G, %i: !I, %v: !V) {
    // expected-error @below {{expects a destination of f16 for 'f16' on a5, got 'f32'}}
    pto.mgather ins(%g, %i : !G, !I) outs(%v : !V)
    return
  }
  func.func @memref(%m: memref<32x32xf64>, %v: !V) {
    pto.tabs ins(%m : memref<32x32xf64>) outs(%v : !V)
    return
  }
}

// -----

// The row takes it; the assembler does not.
!U = !pto.tile_buf<vec, 32x32xui32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @mask_of_words(%u: !U, %v: !V) {
  // expected-error @below {{expects a mask of i8 or ui8, got 'ui32'}}
  pto.tcmp ins(%v, %v {cmpMode = #pto<cmp lt>} : !V, !V) outs(%u : !U)
  return
}

// -----

!M = !pto.tile_buf<vec, 32x32xui8>
!V = !pto.tile_buf<vec, 32x32xf32>
!W = !pto.tile_buf<vec, 32x32xf32, valid=16x32>
func.func @compared_shapes(%m: !M, %v: !V, %w: !W) {
  // expected-error @below {{expects sources of one valid shape, got 32x32 and 16x32}}
  pto.tcmp ins(%v, %w {cmpMode = #pto<cmp lt>} : !V, !W) outs(%m : !M)
  return
}

// -----

!G = !pto.partition_tensor_view<32x32xf32>
!V = !pto.tile_buf<vec, 32x32xf32>
!U = !pto.tile_buf<vec, 32x32xui32>
module attributes {pto.target_arch = "a5"} {
  func.func @indices(%g: !G, %u: !U, %v: !V) {
    // expected-error @below {{expects indices of i32, got 'ui32'}}
    pto.mgather ins(%g, %u : !G, !U) outs(%v : !V)
    return
  }
}

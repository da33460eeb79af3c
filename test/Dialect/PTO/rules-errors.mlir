// One case per verifier rule that no other file covers.
// RUN: pto-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!L16 = !pto.tile_buf<left, 16x32xf16, slayout=row_major>
!T = !pto.tile_buf<right, 32x32xf16, slayout=col_major>
func.func @product_shape(%L16: !L16, %T: !T, %A: !A) {
  // expected-error @below {{expects [M,K] x [K,N] -> [M,N], got 16x32 x 32x32 -> 32x32}}
  pto.tmatmul ins(%L16, %T : !L16, !T) outs(%A : !A)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!L0 = !pto.tile_buf<left, 32x32xf16, valid=0x32, slayout=row_major>
!T = !pto.tile_buf<right, 32x32xf16, slayout=col_major>
func.func @product_extent(%L0: !L0, %T: !T, %A: !A) {
  // expected-error @below {{expects valid m, k and n of 1 to 4095, got 0}}
  pto.tmatmul ins(%L0, %T : !L0, !T) outs(%A : !A)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!LF = !pto.tile_buf<left, 32x32xf32, slayout=row_major>
!T = !pto.tile_buf<right, 32x32xf16, slayout=col_major>
func.func @product_types(%LF: !LF, %T: !T, %A: !A) {
  // expected-error @below {{does not work on 'f32' and 'f16' on a3; expects all of one type, one of f32 f16 bf16 i8}}
  pto.tmatmul ins(%LF, %T : !LF, !T) outs(%A : !A)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!T = !pto.tile_buf<right, 32x32xf16, slayout=col_major>
!Z2 = !pto.tile_buf<bias, 2x32xf32>
func.func @bias_rows(%L: !L, %T: !T, %Z2: !Z2, %A: !A) {
  // expected-error @below {{expects a bias of one row, got 2x32}}
  pto.tmatmul.bias ins(%L, %T, %Z2 : !L, !T, !Z2) outs(%A : !A)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!T = !pto.tile_buf<right, 32x32xf16, slayout=col_major>
!ZH = !pto.tile_buf<bias, 1x32xf16>
func.func @bias_type(%L: !L, %T: !T, %ZH: !ZH, %A: !A) {
  // expected-error @below {{does not work on (f16, f16, f16) on a3; expects one of (f32, f32, f32) (f16, f16, f32) (bf16, bf16, f32) (i8, i8, i32)}}
  pto.tmatmul.bias ins(%L, %T, %ZH : !L, !T, !ZH) outs(%A : !A)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!T = !pto.tile_buf<right, 32x32xf16, slayout=col_major>
func.func @gemv_rows(%L: !L, %T: !T, %A: !A) {
  // expected-error @below {{expects one valid row, got 32x32}}
  pto.tgemv ins(%L, %T : !L, !T) outs(%A : !A)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @load_from_tile(%V: !V) {
  // expected-error @below {{expects a part of global memory as source}}
  pto.tload ins(%V : !V) outs(%V : !V)
  return
}

// -----

!AH = !pto.tile_buf<acc, 32x32xf16, blayout=col_major, slayout=row_major, fractal=1024>
!GH = !pto.partition_tensor_view<32x32xf16>
func.func @store_acc_type(%AH: !AH, %GH: !GH) {
  // expected-error @below {{expects an acc tile of f32 or i32, got 'f16'}}
  pto.tstore ins(%AH : !AH) outs(%GH : !GH)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!GB = !pto.partition_tensor_view<32x32xi8>
func.func @store_acc_to(%A: !A, %GB: !GB) {
  // expected-error @below {{expects i32, f32, f16 or bf16 in global memory without quantisation, got 'i8'}}
  pto.tstore ins(%A : !A) outs(%GB : !GB)
  return
}

// -----

!AW = !pto.tile_buf<acc, 16x4096xf32, blayout=col_major, slayout=row_major, fractal=1024>
!GW = !pto.partition_tensor_view<16x4096xf32>
func.func @store_acc_columns(%AW: !AW, %GW: !GW) {
  // expected-error @below {{expects at most 4095 columns, got 4096}}
  pto.tstore ins(%AW : !AW) outs(%GW : !GW)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!F = !pto.tile_buf<scaling, 1x32xf32>
!MI = !pto.tile_buf<mat, 32x32xi8, blayout=col_major, slayout=row_major>
func.func @move_operands(%A: !A, %F: !F, %q: i64, %MI: !MI) {
  // expected-error @below {{expects at most a quantisation tile and an i64 scalar after the source}}
  pto.tmov ins(%A : !A, %F : !F, %q : i64, %q : i64) outs(%MI : !MI)
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!M64 = !pto.tile_buf<mat, 64x32xf16, blayout=col_major, slayout=row_major>
func.func @move_shape(%M64: !M64, %L: !L) {
  // expected-error @below {{expects tiles of one shape, got 64x32 and 32x32}}
  pto.tmov ins(%M64 : !M64) outs(%L : !L)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @move_relu(%V: !V) {
  // expected-error @below {{expects an acc source for relu, got vec}}
  pto.tmov ins(%V : !V) outs(%V : !V) {reluPreMode = #pto<relu_pre_mode normal_relu>}
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!MI = !pto.tile_buf<mat, 32x32xi8, blayout=col_major, slayout=row_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @move_scales(%A: !A, %V: !V, %MI: !MI) {
  // expected-error @below {{expects the quantisation tile in scaling, got vec}}
  pto.tmov ins(%A : !A, %V : !V) outs(%MI : !MI)
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!MA = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
func.func @part_inside(%MA: !MA, %x0: index, %L: !L) {
  %c = arith.constant 16 : index
  // expected-error @below {{expects the part 32x32 at (16, 0) within 32x32}}
  pto.textract ins(%MA, %c, %x0 : !MA, index, index) outs(%L : !L)
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!MF = !pto.tile_buf<mat, 32x32xf32, blayout=col_major, slayout=row_major>
func.func @part_type(%MF: !MF, %x0: index, %L: !L) {
  // expected-error @below {{expects one element type, got 'f32' and 'f16'}}
  pto.textract ins(%MF, %x0, %x0 : !MF, index, index) outs(%L : !L)
  return
}

// -----

!MA = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
func.func @insert_from(%MA: !MA, %x0: index) {
  // expected-error @below {{cannot insert from mat into mat}}
  pto.tinsert ins(%MA, %x0, %x0 : !MA, index, index) outs(%MA : !MA)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!MF = !pto.tile_buf<mat, 32x32xf32, blayout=col_major, slayout=row_major>
func.func @insert_types(%A: !A, %x0: index, %MF: !MF) {
  // expected-error @below {{cannot insert 'f32' into 'f32'; expects f32 into f16 or bf16}}
  pto.tinsert ins(%A, %x0, %x0 : !A, index, index) outs(%MF : !MF)
  return
}

// -----

!AI = !pto.tile_buf<acc, 32x32xi32, blayout=col_major, slayout=row_major, fractal=1024>
!MA = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
module attributes {pto.target_arch = "a5"} {
func.func @insert_types_a5(%AI: !AI, %x0: index, %MA: !MA) {
  // expected-error @below {{cannot insert 'i32' into 'f16'; expects f32 into f16, bf16 or f32, or i32 into i32}}
  pto.tinsert ins(%AI, %x0, %x0 : !AI, index, index) outs(%MA : !MA)
  return
}
}

// -----

!H = !pto.tile_buf<vec, 32x32xf16>
!VP = !pto.tile_buf<vec, 32x32xf32, pad=1>
func.func @fill_size(%H: !H, %VP: !VP) {
  // expected-error @below {{expects elements of one size, got 'f16' and 'f32'}}
  pto.tfillpad ins(%H : !H) outs(%VP : !VP)
  return
}

// -----

!Q = !pto.tile_buf<vec, 16x32xf32>
!VP = !pto.tile_buf<vec, 32x32xf32, pad=1>
func.func @fill_shape(%Q: !Q, %VP: !VP) {
  // expected-error @below {{expects tiles of one shape, got 16x32 and 32x32}}
  pto.tfillpad ins(%Q : !Q) outs(%VP : !VP)
  return
}

// -----

!D2 = !pto.tile_buf<vec, 32x64xf32>
!VP = !pto.tile_buf<vec, 32x32xf32, pad=1>
func.func @fill_expand(%D2: !D2, %VP: !VP) {
  // expected-error @below {{expects a destination no smaller than the source, got 32x64 and 32x32}}
  pto.tfillpad_expand ins(%D2 : !D2) outs(%VP : !VP)
  return
}

// -----

!L64 = !pto.tile_buf<vec, 32x32xi64>
func.func @transpose_bytes(%L64: !L64) {
  // expected-error @below {{does not work on 'i64' on a3; expects one of f32 f16 bf16 i8 ui8 i16 ui16 i32 ui32}}
  pto.ttrans ins(%L64, %L64 : !L64, !L64) outs(%L64 : !L64)
  return
}

// -----

!CM = !pto.tile_buf<vec, 32x32xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @transpose_order(%CM: !CM, %V: !V) {
  // expected-error @below {{expects a row-major source, got}}
  pto.ttrans ins(%CM, %V : !CM, !V) outs(%V : !V)
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!MA = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
func.func @image_numbers(%MA: !MA, %x0: index, %x1: index, %L: !L) {
  // expected-error @below {{expects values >= 1 in strides, got 0}}
  pto.timg2col ins(%MA, %x0, %x1 : !MA, index, index) outs(%L : !L) {kernel = [3, 3], strides = [0, 1], dilations = [1, 1], pads = [1, 1, 1, 1], image = [4, 8], channels = 8}
  return
}

// -----

!H = !pto.tile_buf<vec, 32x32xf16>
!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
func.func @image_memories(%H: !H, %x0: index, %x1: index, %L: !L) {
  // expected-error @below {{expects a mat source and a left destination, got vec and left}}
  pto.timg2col ins(%H, %x0, %x1 : !H, index, index) outs(%L : !L) {kernel = [3, 3], strides = [1, 1], dilations = [1, 1], pads = [1, 1, 1, 1], image = [4, 8], channels = 8}
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!MND = !pto.tile_buf<mat, 32x32xf16>
func.func @image_layout(%MND: !MND, %x0: index, %x1: index, %L: !L) {
  // expected-error @below {{expects a source with blayout=col_major, slayout=row_major, got}}
  pto.timg2col ins(%MND, %x0, %x1 : !MND, index, index) outs(%L : !L) {kernel = [3, 3], strides = [1, 1], dilations = [1, 1], pads = [1, 1, 1, 1], image = [4, 8], channels = 8}
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!MF = !pto.tile_buf<mat, 32x32xf32, blayout=col_major, slayout=row_major>
func.func @image_type(%MF: !MF, %x0: index, %x1: index, %L: !L) {
  // expected-error @below {{expects a destination of f32 for 'f32' on a3, got 'f16'}}
  pto.timg2col ins(%MF, %x0, %x1 : !MF, index, index) outs(%L : !L) {kernel = [3, 3], strides = [1, 1], dilations = [1, 1], pads = [1, 1, 1, 1], image = [4, 8], channels = 8}
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!MA = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
func.func @image_channels(%MA: !MA, %x0: index, %x1: index, %L: !L) {
  // expected-error @below {{expects 1 to 32 channels, got 33}}
  pto.timg2col ins(%MA, %x0, %x1 : !MA, index, index) outs(%L : !L) {kernel = [3, 3], strides = [1, 1], dilations = [1, 1], pads = [1, 1, 1, 1], image = [4, 8], channels = 33}
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!MA = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
func.func @image_pixels(%MA: !MA, %x0: index, %x1: index, %L: !L) {
  // expected-error @below {{expects an image of at most 32 pixels (the rows of the source), got 5x8}}
  pto.timg2col ins(%MA, %x0, %x1 : !MA, index, index) outs(%L : !L) {kernel = [3, 3], strides = [1, 1], dilations = [1, 1], pads = [1, 1, 1, 1], image = [5, 8], channels = 8}
  return
}

// -----

!D2 = !pto.tile_buf<vec, 32x64xf32>
!I = !pto.tile_buf<vec, 32x32xi32>
func.func @convert_shape(%D2: !D2, %I: !I) {
  // expected-error @below {{expects tiles of one shape, got 32x64 and 32x32}}
  pto.tcvt ins(%D2 : !D2) outs(%I : !I)
  return
}

// -----

!H = !pto.tile_buf<vec, 32x32xf16>
!U = !pto.tile_buf<vec, 32x32xui8>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @compare_sources(%V: !V, %H: !H, %U: !U) {
  // expected-error @below {{does not work on 'f32' and 'f16' on a3; expects all of one type, one of f16 f32 i32}}
  pto.tcmp ins(%V, %H {cmpMode = #pto<cmp lt>} : !V, !H) outs(%U : !U)
  return
}

// -----

!B = !pto.tile_buf<vec, 32x32xi8>
!U = !pto.tile_buf<vec, 32x32xui8>
func.func @select_bytes(%U: !U, %B: !B) {
  // expected-error @below {{does not work on 'i8' on a3; expects one of f16 f32 bf16 i16 ui16 i32 ui32}}
  pto.tsel ins(%U, %B, %B, %B : !U, !B, !B, !B) outs(%B : !B)
  return
}

// -----

!H = !pto.tile_buf<vec, 32x32xf16>
func.func @lrelu_slope(%H: !H, %j: f16) {
  // expected-error @below {{expects a slope of f32, got 'f16'}}
  pto.tlrelu ins(%H, %j : !H, f16) outs(%H : !H)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @divide_operands(%V: !V) {
  // expected-error @below {{expects one tile and one scalar, got}}
  pto.tdivs ins(%V, %V : !V, !V) outs(%V : !V)
  return
}

// -----

!TC1 = !pto.tile_buf<vec, 32x1xi32>
func.func @iota_column(%n: i32, %TC1: !TC1) {
  // expected-error @below {{expects more than one column}}
  pto.tci ins(%n : i32) outs(%TC1 : !TC1)
  return
}

// -----

!CM = !pto.tile_buf<vec, 32x32xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @row_major(%CM: !CM, %V: !V) {
  // expected-error @below {{expects blayout=row_major on every tile, got}}
  pto.tadd ins(%CM, %CM : !CM, !CM) outs(%V : !V)
  return
}

// -----

!C16 = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @row_expand_rows(%C16: !C16, %V: !V) {
  // expected-error @below {{expects as many valid rows in the source as in the destination, got 16x1 for 32x32}}
  pto.trowexpand ins(%C16 : !C16) outs(%V : !V)
  return
}

// -----

!R16 = !pto.tile_buf<vec, 1x16xf32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @col_expand_cols(%R16: !R16, %V: !V) {
  // expected-error @below {{expects as many valid columns in the source as in the destination, got 1x16 for 32x32}}
  pto.tcolexpand ins(%R16 : !R16) outs(%V : !V)
  return
}

// -----

!D2 = !pto.tile_buf<vec, 32x64xf32>
!R = !pto.tile_buf<vec, 1x32xf32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @col_expand_shape(%D2: !D2, %R: !R, %V: !V) {
  // expected-error @below {{expects src0 of the destination's shape, got 32x64 for 32x32}}
  pto.tcolexpandadd ins(%D2, %R : !D2, !R) outs(%V : !V)
  return
}

// -----

!R16 = !pto.tile_buf<vec, 1x16xf32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @col_expand_row(%V: !V, %R16: !R16) {
  // expected-error @below {{expects a row of the destination's valid columns, got 1x16 for 32x32}}
  pto.tcolexpandadd ins(%V, %R16 : !V, !R16) outs(%V : !V)
  return
}

// -----

!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!CM = !pto.tile_buf<vec, 32x32xf32, blayout=col_major>
func.func @row_expand_order(%CM: !CM, %C: !C) {
  // expected-error @below {{expects a row-major src0 and destination, got}}
  pto.trowexpandmul ins(%CM, %C : !CM, !C) outs(%CM : !CM)
  return
}

// -----

!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!Q = !pto.tile_buf<vec, 16x32xf32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @row_expand_valid(%Q: !Q, %C: !C, %V: !V) {
  // expected-error @below {{expects src0 of the destination's valid shape, got 16x32 for 32x32}}
  pto.trowexpandmul ins(%Q, %C : !Q, !C) outs(%V : !V)
  return
}

// -----

!C16 = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @row_expand_column(%V: !V, %C16: !C16) {
  // expected-error @below {{expects a column of the destination's valid rows, got 16x1 for 32x32}}
  pto.trowexpandmul ins(%V, %C16 : !V, !C16) outs(%V : !V)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @row_expand_width(%V: !V) {
  // expected-error @below {{expects 8 valid columns in a row-major src1, got 32x32}}
  pto.trowexpandadd ins(%V, %V : !V, !V) outs(%V : !V)
  return
}

// -----

!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
func.func @row_expand_tmp_max(%V: !V, %C: !C) {
  // expected-error @below {{takes no tmp on a5}}
  pto.trowexpandmax ins(%V, %C, %V : !V, !C, !V) outs(%V : !V)
  return
}
}

// -----

!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
func.func @row_expand_tmp_min(%V: !V, %C: !C) {
  // expected-error @below {{takes no tmp on a5}}
  pto.trowexpandmin ins(%V, %C, %V : !V, !C, !V) outs(%V : !V)
  return
}
}

// -----

!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
func.func @row_expand_tmp_expdif(%V: !V, %C: !C) {
  // expected-error @below {{takes no tmp on a5}}
  pto.trowexpandexpdif ins(%V, %C, %V : !V, !C, !V) outs(%V : !V)
  return
}
}

// -----

!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!CM = !pto.tile_buf<vec, 32x32xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @row_reduce_source(%CM: !CM, %V: !V, %C: !C) {
  // expected-error @below {{expects a row-major unboxed source, got}}
  pto.trowsum ins(%CM, %V : !CM, !V) outs(%C : !C)
  return
}

// -----

!C16 = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @row_reduce_rows(%V: !V, %C16: !C16) {
  // expected-error @below {{expects as many valid rows in the destination as in the source, got 16x1 for 32x32}}
  pto.trowsum ins(%V, %V : !V, !V) outs(%C16 : !C16)
  return
}

// -----

!C2 = !pto.tile_buf<vec, 32x2xf32, valid=32x1, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @row_reduce_column(%V: !V, %C2: !C2) {
  // expected-error @below {{expects a column-major destination of one column, got}}
  pto.trowsum ins(%V, %V : !V, !V) outs(%C2 : !C2)
  return
}

// -----

!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!H = !pto.tile_buf<vec, 32x32xf16>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @row_reduce_tmp(%V: !V, %H: !H, %C: !C) {
  // expected-error @below {{expects a row-major tmp with the source's element type and valid shape, got}}
  pto.trowmin ins(%V, %H : !V, !H) outs(%C : !C)
  return
}

// -----

!R16 = !pto.tile_buf<vec, 1x16xf32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @col_reduce_cols(%V: !V, %R16: !R16) {
  // expected-error @below {{expects as many valid columns in the destination as in the source, got 1x16 for 32x32}}
  pto.tcolmax ins(%V : !V) outs(%R16 : !R16)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @col_reduce_rows(%V: !V) {
  // expected-error @below {{expects one valid row in the destination, got 32x32}}
  pto.tcolmax ins(%V : !V) outs(%V : !V)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @pattern_name(%V: !V) {
  // expected-error @below {{expects #pto.mask_pattern<Pxxxx>}}
  pto.tgather ins(%V, {maskPattern = 1 : i32} : !V) outs(%V : !V)
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @pattern_sources(%V: !V, %I: !I) {
  // expected-error @below {{expects at most three sources}}
  pto.tgather ins(%V, %I, %I, %I : !V, !I, !I, !I) outs(%V : !V)
  return
}

// -----

!S = !pto.tile_buf<vec, 32x32xi16>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @gather_sizes(%V: !V, %S: !S) {
  // expected-error @below {{expects elements of one size, got 'f32' and 'i16'}}
  pto.tgather ins(%V, {maskPattern = #pto.mask_pattern<P0101>} : !V) outs(%S : !S)
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @gather_compare(%V: !V, %e: f32, %I: !I) {
  // expected-error @below {{expects a source, a scalar and a tmp, two destinations, and no indices in a comparison}}
  pto.tgather ins(%V, %e : !V, f32) outs(%I, %I : !I, !I)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @gather_compare_to(%V: !V, %e: f32) {
  // expected-error @below {{expects a destination of i32, got 'f32'}}
  pto.tgather ins(%V, %e, %V : !V, f32, !V) outs(%V, %V : !V, !V)
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!S = !pto.tile_buf<vec, 32x32xi16>
func.func @gather_compare_type(%S: !S, %k: i16, %I: !I) {
  // expected-error @below {{cannot compare 'i16'; expects f16 or f32, or i32 with cmpMode eq}}
  pto.tgather ins(%S, %k, %S : !S, i16, !S) outs(%I, %I : !I, !I)
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @gather_form(%V: !V, %I: !I) {
  // expected-error @below {{expects indices and a tmp, or a scalar with two destinations, or a pattern}}
  pto.tgather ins(%V, %I : !V, !I) outs(%V : !V)
  return
}

// -----

!H = !pto.tile_buf<vec, 32x32xf16>
!I = !pto.tile_buf<vec, 32x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @gather_types(%V: !V, %I: !I, %H: !H) {
  // expected-error @below {{expects one element type, got 'f32' and 'f16'}}
  pto.tgather ins(%V, %I, %I : !V, !I, !I) outs(%H : !H)
  return
}

// -----

!L64 = !pto.tile_buf<vec, 32x32xi64>
!W = !pto.tile_buf<vec, 32x32xui32>
func.func @gatherb_bytes(%L64: !L64, %W: !W) {
  // expected-error @below {{does not work on 'i64' on a3; expects one of f16 f32 bf16 i16 ui16 i32 ui32}}
  pto.tgatherb ins(%L64, %W : !L64, !W) outs(%L64 : !L64)
  return
}

// -----

!CM = !pto.tile_buf<vec, 32x32xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
!W = !pto.tile_buf<vec, 32x32xui32>
func.func @gatherb_order(%V: !V, %W: !W, %CM: !CM) {
  // expected-error @below {{expects a row-major destination, got}}
  pto.tgatherb ins(%V, %W : !V, !W) outs(%CM : !CM)
  return
}

// -----

!H = !pto.tile_buf<vec, 32x32xf16>
!I = !pto.tile_buf<vec, 32x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @scatter_types(%V: !V, %I: !I, %H: !H) {
  // expected-error @below {{expects one element type, got 'f32' and 'f16'}}
  pto.tscatter ins(%V, %I : !V, !I) outs(%H : !H)
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!L64 = !pto.tile_buf<vec, 32x32xi64>
func.func @scatter_bytes(%L64: !L64, %I: !I) {
  // expected-error @below {{expects elements of 1, 2 or 4 bytes, got 'i64'}}
  pto.tscatter ins(%L64, %I : !L64, !I) outs(%L64 : !L64)
  return
}

// -----

!G = !pto.partition_tensor_view<32x32xf32>
!S = !pto.tile_buf<vec, 32x32xi16>
!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
func.func @mgather_index(%G: !G, %S: !S, %V: !V) {
  // expected-error @below {{expects idx of i32 or ui32, got 'i16'}}
  pto.mgather ins(%G, %S : !G, !S) outs(%V : !V)
  return
}
}

// -----

!G = !pto.partition_tensor_view<32x32xf32>
!RI = !pto.tile_buf<vec, 1x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
func.func @mgather_shape(%G: !G, %RI: !RI, %V: !V) {
  // expected-error @below {{expects indices of the tile's shape or one column of its rows, got 1x32 for 32x32}}
  pto.mgather ins(%G, %RI : !G, !RI) outs(%V : !V)
  return
}
}

// -----

!GH = !pto.partition_tensor_view<32x32xf16>
!H = !pto.tile_buf<vec, 32x32xf16>
!I = !pto.tile_buf<vec, 32x32xi32>
module attributes {pto.target_arch = "a5"} {
func.func @mscatter_atomic(%H: !H, %I: !I, %GH: !GH) {
  // expected-error @below {{cannot max atomically in 'f16'}}
  pto.mscatter ins(%H, %I : !H, !I) outs(%GH : !GH) {scatterAtomicOp = #pto<scatter_atomic_op max>}
  return
}
}

// -----

!M1 = !pto.tile_buf<vec, 1x256xf32>
func.func @merge_form(%M1: !M1) {
  // expected-error @below {{expects (source, run length) and one destination, or two to four sources and a tmp, a destination and a vector}}
  pto.tmrgsort ins(%M1 : !M1) outs(%M1 : !M1)
  return
}

// -----

!M1 = !pto.tile_buf<vec, 1x256xf32>
func.func @merge_types_listed(%M1: !M1, %n: i32) {
  // expected-error @below {{expects one type per operand}}
  pto.tmrgsort ins(%M1, %n : !M1) outs(%M1 : !M1)
  return
}

// -----

!M1 = !pto.tile_buf<vec, 1x256xf32>
func.func @merge_form_generic(%M1: !M1) {
  // expected-error @below {{expects (source, run length) and one destination, or two to four sources and a tmp, a destination and a vector}}
  "pto.tmrgsort"(%M1, %M1) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> : (!M1, !M1) -> ()
  return
}

// -----

!M1 = !pto.tile_buf<vec, 1x256xf32>
!M1I = !pto.tile_buf<vec, 1x256xi32>
func.func @merge_type(%M1: !M1, %n: i32, %M1I: !M1I) {
  // expected-error @below {{expects one element type, got 'f32' and 'i32'}}
  pto.tmrgsort ins(%M1, %n : !M1, i32) outs(%M1I : !M1I)
  return
}

// -----

!M1I = !pto.tile_buf<vec, 1x256xi32>
func.func @merge_element(%M1I: !M1I, %n: i32) {
  // expected-error @below {{expects f16 or f32, got 'i32'}}
  pto.tmrgsort ins(%M1I, %n : !M1I, i32) outs(%M1I : !M1I)
  return
}

// -----

!M1 = !pto.tile_buf<vec, 1x256xf32>
func.func @merge_counts(%M1: !M1) {
  %ex = arith.constant dense<0> : vector<2xi16>
  // expected-error @below {{expects vector<4xi16> as second destination, got 'vector<2xi16>'}}
  pto.tmrgsort ins(%M1, %M1, %M1 {exhausted = false} : !M1, !M1, !M1) outs(%M1, %ex : !M1, vector<2xi16>)
  return
}

// -----

!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!H16 = !pto.tile_buf<vec, 32x32xui16>
!HI = !pto.tile_buf<vec, 32x256xui32>
module attributes {pto.target_arch = "a5"} {
func.func @histogram_types(%H16: !H16, %C: !C, %HI: !HI) {
  // expected-error @below {{expects idx of ui8, got 'f32'}}
  pto.thistogram ins(%H16, %C : !H16, !C) outs(%HI : !HI)
  return
}
}

// -----

!H16 = !pto.tile_buf<vec, 32x32xui16>
!HC16 = !pto.tile_buf<vec, 16x1xui8, blayout=col_major>
!HI = !pto.tile_buf<vec, 32x256xui32>
module attributes {pto.target_arch = "a5"} {
func.func @histogram_rows(%H16: !H16, %HC16: !HC16, %HI: !HI) {
  // expected-error @below {{expects as many valid rows in each tile, got 32x32, 16x1 and 32x256}}
  pto.thistogram ins(%H16, %HC16 : !H16, !HC16) outs(%HI : !HI)
  return
}
}

// -----

!CMI = !pto.tile_buf<vec, 32x32xi32, blayout=col_major>
module attributes {pto.target_arch = "a5"} {
func.func @random_order(%n: i32, %CMI: !CMI) {
  // expected-error @below {{expects a row-major destination, got}}
  pto.trandom ins(%n, %n, %n, %n, %n, %n : i32, i32, i32, i32, i32, i32) outs(%CMI : !CMI)
  return
}
}

// -----

!B = !pto.tile_buf<vec, 32x32xi8>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!H = !pto.tile_buf<vec, 32x32xf16>
func.func @quant_source(%H: !H, %C: !C, %B: !B) {
  // expected-error @below {{expects a source of f32, got 'f16'}}
  pto.tquant ins(%H, %C : !H, !C) outs(%B : !B) {quant_type = #pto<quant_type INT8_SYM>}
  return
}

// -----

!B = !pto.tile_buf<vec, 32x32xi8>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @quant_asym(%V: !V, %C: !C, %B: !B) {
  // expected-error @below {{expects a destination of ui8 for INT8_ASYM, got 'i8'}}
  pto.tquant ins(%V, %C, %C : !V, !C, !C) outs(%B : !B) {quant_type = #pto<quant_type INT8_ASYM>}
  return
}

// -----

!B = !pto.tile_buf<vec, 32x32xi8>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!CM = !pto.tile_buf<vec, 32x32xf32, blayout=col_major>
func.func @quant_order(%CM: !CM, %C: !C, %B: !B) {
  // expected-error @below {{expects row-major tiles on a3, got}}
  pto.tquant ins(%CM, %C : !CM, !C) outs(%B : !B) {quant_type = #pto<quant_type INT8_SYM>}
  return
}

// -----

!B = !pto.tile_buf<vec, 32x32xi8>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!CI = !pto.tile_buf<vec, 32x1xi32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @dequant_scale(%B: !B, %CI: !CI, %C: !C, %V: !V) {
  // expected-error @below {{expects scale of f32, got 'i32'}}
  pto.tdequant ins(%B, %CI, %C : !B, !CI, !C) outs(%V : !V)
  return
}

// -----

!B = !pto.tile_buf<vec, 32x32xi8>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!CM = !pto.tile_buf<vec, 32x32xf32, blayout=col_major>
func.func @dequant_order(%B: !B, %C: !C, %CM: !CM) {
  // expected-error @below {{expects row-major tiles on a3, got}}
  pto.tdequant ins(%B, %C, %C : !B, !C, !C) outs(%CM : !CM)
  return
}

// -----

!L8 = !pto.tile_buf<left, 32x32xf8E4M3FN, slayout=row_major>
!S8h = !pto.tile_buf<scaling, 32x64xf8E4M3FN>
module attributes {pto.target_arch = "a5"} {
func.func @scale_shape(%L8: !L8, %S8h: !S8h) {
  // expected-error @below {{expects dst of its operand's shape and valid shape, got}}
  pto.tget_scale_addr ins(%L8 : !L8) outs(%S8h : !S8h)
  return
}
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!R8 = !pto.tile_buf<right, 32x32xf8E4M3FN, slayout=col_major>
!S8 = !pto.tile_buf<scaling, 32x32xf8E4M3FN>
module attributes {pto.target_arch = "a5"} {
func.func @scaled_types(%L: !L, %S8: !S8, %R8: !R8, %A: !A) {
  // expected-error @below {{cannot multiply 'f16' by 'f8E4M3FN' into 'f32'; expects a pair of fp8 into f32}}
  pto.tmatmul.mx ins(%L, %S8, %R8, %S8 : !L, !S8, !R8, !S8) outs(%A : !A)
  return
}
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!L8 = !pto.tile_buf<left, 32x32xf8E4M3FN, slayout=row_major>
!R8 = !pto.tile_buf<right, 32x32xf8E4M3FN, slayout=col_major>
!S8 = !pto.tile_buf<scaling, 32x32xf8E4M3FN>
!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
func.func @scaled_acc_memory(%V: !V, %L8: !L8, %S8: !S8, %R8: !R8, %A: !A) {
  // expected-error @below {{expects c_in in acc, got vec}}
  pto.tmatmul.mx.acc ins(%V, %L8, %S8, %R8, %S8 : !V, !L8, !S8, !R8, !S8) outs(%A : !A)
  return
}
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!AQ = !pto.tile_buf<acc, 32x32xf32, valid=16x32, blayout=col_major, slayout=row_major, fractal=1024>
!L8 = !pto.tile_buf<left, 32x32xf8E4M3FN, slayout=row_major>
!R8 = !pto.tile_buf<right, 32x32xf8E4M3FN, slayout=col_major>
!S8 = !pto.tile_buf<scaling, 32x32xf8E4M3FN>
module attributes {pto.target_arch = "a5"} {
func.func @scaled_acc_valid(%AQ: !AQ, %L8: !L8, %S8: !S8, %R8: !R8, %A: !A) {
  // expected-error @below {{expects c_in of dst's element type and valid shape, got}}
  pto.tmatmul.mx.acc ins(%AQ, %L8, %S8, %R8, %S8 : !AQ, !L8, !S8, !R8, !S8) outs(%A : !A)
  return
}
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!L8 = !pto.tile_buf<left, 32x32xf8E4M3FN, slayout=row_major>
!R8 = !pto.tile_buf<right, 32x32xf8E4M3FN, slayout=col_major>
!S8 = !pto.tile_buf<scaling, 32x32xf8E4M3FN>
!ZH = !pto.tile_buf<bias, 1x32xf16>
module attributes {pto.target_arch = "a5"} {
func.func @scaled_bias(%L8: !L8, %S8: !S8, %R8: !R8, %ZH: !ZH, %A: !A) {
  // expected-error @below {{expects a bias of f32, got 'f16'}}
  pto.tmatmul.mx.bias ins(%L8, %S8, %R8, %S8, %ZH : !L8, !S8, !R8, !S8, !ZH) outs(%A : !A)
  return
}
}

// -----

!BX = !pto.tile_buf<vec, 32x32xf16, blayout=col_major, slayout=row_major>
func.func @subset_offset(%BX: !BX) {
  %x0c = arith.constant 0 : index
  %c = arith.constant 8 : index
  // expected-error @below {{expects offsets that are multiples of the inner box 16x16}}
  %s = pto.subset %BX[%x0c, %c] sizes [32, 16] : !BX
  return
}

// -----

!BX = !pto.tile_buf<vec, 32x32xf16, blayout=col_major, slayout=row_major>
func.func @subset_whole(%BX: !BX) {
  %x0c = arith.constant 0 : index
  // expected-error @below {{expects all rows of a column-major boxed tile}}
  %s = pto.subset %BX[%x0c, %x0c] sizes [16, 16] : !BX
  return
}

// -----

!ZZ = !pto.tile_buf<vec, 32x32xf16, slayout=row_major>
func.func @subset_whole_rows(%ZZ: !ZZ) {
  %x0c = arith.constant 0 : index
  // expected-error @below {{expects all columns of a row-major boxed tile}}
  %s = pto.subset %ZZ[%x0c, %x0c] sizes [16, 16] : !ZZ
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @reshape_memory(%V: !V) {
  // expected-error @below {{expects a result in vec, got mat}}
  %s = pto.treshape %V : !V -> !pto.tile_buf<mat, 32x32xf32>
  return
}

// -----

!NZV = !pto.tile_buf<vec, 32x32xf32, blayout=col_major, slayout=row_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @reshape_boxes(%V: !V) {
  // expected-error @below {{expects source and result both boxed or both unboxed}}
  %s = pto.treshape %V : !V -> !NZV
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @bitcast_shape(%V: !V) {
  // expected-error @below {{expects a result that differs in the element type only, got}}
  %s = pto.bitcast %V : !V -> !pto.tile_buf<vec, 16x32xi32>
  return
}

// -----

!H = !pto.tile_buf<vec, 32x32xf16>
!I = !pto.tile_buf<vec, 32x32xi32>
func.func @bitcast_bytes(%H: !H) {
  // expected-error @below {{expects a result of at most 2048 bytes, got 4096}}
  %s = pto.bitcast %H : !H -> !I
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @valid_static(%V: !V, %x0: index) {
  // expected-error @below {{expects a tile with valid=?x?, got}}
  pto.set_validshape %V, %x0, %x0 : !V
  return
}

// -----

!DY = !pto.tile_buf<vec, 32x32xf32, valid=?x?>
func.func @valid_subset(%DY: !DY, %x0: index) {
  %s = pto.subset %DY[%x0, %x0] sizes [32, 32] : !DY
  // expected-error @below {{expects a tile of its own, not a subset}}
  pto.set_validshape %s, %x0, %x0 : !DY
  return
}

// -----

!DY = !pto.tile_buf<vec, 32x32xf32, valid=?x?>
func.func @valid_within(%DY: !DY, %x0: index) {
  %c = arith.constant 33 : index
  // expected-error @below {{expects a valid shape within 32x32}}
  pto.set_validshape %DY, %c, %x0 : !DY
  return
}

// -----

!D = !pto.tensor_view<?x?xf32>
!P = !pto.ptr<f32>
func.func @view_counts(%P: !P, %x0: index) {
  // expected-error @below {{expects 2 sizes and 2 strides for}}
  %s = pto.make_tensor_view %P, shape = [%x0, %x0], strides = [%x0] : !D
  return
}

// -----

!D = !pto.tensor_view<?x?xf32>
!G = !pto.partition_tensor_view<32x32xf32>
func.func @part_counts(%D: !D, %x0: index) {
  // expected-error @below {{expects 2 offsets and 2 sizes, got 1 and 2}}
  %s = pto.partition_view %D, offsets = [%x0], sizes = [%x0, %x0] : !D -> !G
  return
}

// -----

!DH = !pto.tensor_view<?x?xf16>
!G = !pto.partition_tensor_view<32x32xf32>
func.func @part_element(%DH: !DH, %x0: index) {
  // expected-error @below {{expects a result of 'f16', got 'f32'}}
  %s = pto.partition_view %DH, offsets = [%x0, %x0], sizes = [%x0, %x0] : !DH -> !G
  return
}

// -----

!D = !pto.tensor_view<?x?xf32>
func.func @part_rank(%D: !D, %x0: index) {
  // expected-error @below {{expects a result of rank 2 or lower, got 3}}
  %s = pto.partition_view %D, offsets = [%x0, %x0], sizes = [%x0, %x0] : !D -> !pto.partition_tensor_view<1x32x32xf32>
  return
}

// -----

!D = !pto.tensor_view<?x?xf32>
func.func @part_offset(%D: !D, %x0: index) {
  %c = arith.constant -1 : index
  // expected-error @below {{expects offset 0 >= 0, got -1}}
  %s = pto.partition_view %D, offsets = [%c, %x0], sizes = [%x0, %x0] : !D -> !pto.partition_tensor_view<?x?xf32>
  return
}

// -----

!D32 = !pto.tensor_view<32x32xf32>
func.func @part_bound(%D32: !D32, %x0: index) {
  %c = arith.constant 17 : index
  // expected-error @below {{expects offset + size of dimension 0 within 32, got 34}}
  %s = pto.partition_view %D32, offsets = [%c, %x0], sizes = [%c, %x0] : !D32 -> !pto.partition_tensor_view<17x?xf32>
  return
}

// -----

!P = !pto.ptr<f32>
func.func @scalar_type(%j: f16, %P: !P, %x0: index) {
  // expected-error @below {{expects a value of 'f32', got 'f16'}}
  pto.store_scalar %j, %P[%x0] : !P, f16
  return
}

// -----

func.func @valid_list() {
  // expected-error @below {{expects valid=RxC, got 1 extents}}
  %s = pto.alloc_tile : !pto.tile_buf<vec, 32x32xf32, valid=32>
  return
}

// -----

func.func @tile_key() {
  // expected-error @below {{unknown key 'fractals': expects valid, blayout, slayout, fractal, pad or compact}}
  %s = pto.alloc_tile : !pto.tile_buf<vec, 32x32xf32, fractals=512>
  return
}

// -----

func.func @tile_extent() {
  // expected-error @below {{expects a size, '?' or -1, got -2}}
  %s = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=-2, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>
  return
}

// -----

func.func @tile_element() {
  // expected-error @below {{expects an integer or float element type, got}}
  %s = pto.alloc_tile : !pto.tile_buf<vec, 32x32xcomplex<f32>>
  return
}

// -----

func.func @config_value() {
  // expected-error @below {{expects a value of blayout, got 7}}
  "test.op"() {c = #pto.tile_buf_config<blayout=7 : i32>} : () -> ()
  return
}

// -----

func.func @config_key() {
  // expected-error @below {{unknown key 'order'; expects blayout, slayout, s_fractal_size, pad or compact}}
  "test.op"() {c = #pto.tile_buf_config<order=1 : i32>} : () -> ()
  return
}

// -----

func.func @buffer_mode() {
  // expected-error @below {{expects a mode of 0 or more, got -1}}
  pto.get_buf[#pto.pipe_event_type<TLOAD>, 3] {mode = -1 : i32}
  return
}

// -----

func.func @core_sync_id() {
  // expected-error @below {{expects one id, a literal or a value}}
  "pto.sync.set"() <{pipe = #pto.pipe<PIPE_FIX>}> : () -> ()
  return
}

// -----

func.func @sync_tiles() {
  // expected-error @below {{expects at least one tile}}
  "pto.tsync"() : () -> ()
  return
}

// -----

!P8 = !pto.ptr<i8>
!T8 = !pto.tile_buf<vec, 1x4xi8>
func.func @scratch_bytes(%T8: !T8, %P8: !P8) {
  // expected-error @below {{expects scratch of at least 8 bytes, got 4}}
  %s = pto.build_async_session(%T8, %P8 : !T8, !P8) -> !pto.async_session
  return
}

// -----

!P = !pto.ptr<f32>
!T8b = !pto.tile_buf<vec, 1x32xi8>
func.func @workspace_type(%T8b: !T8b, %P: !P) {
  // expected-error @below {{expects a workspace of i8, got 'f32'}}
  %s = pto.build_async_session(%T8b, %P : !T8b, !P) -> !pto.async_session
  return
}

// -----

!SES = !pto.async_session
!V1 = !pto.tensor_view<128xf32>
!V1h = !pto.tensor_view<128xf16>
func.func @copy_types(%V1: !V1, %V1h: !V1h, %SES: !SES) {
  // expected-error @below {{expects one element type, got 'f32' and 'f16'}}
  %s = pto.tput_async(%V1, %V1h, %SES : !V1, !V1h, !SES) -> !pto.async_event
  return
}

// -----

!SES = !pto.async_session
!V1 = !pto.tensor_view<128xf32>
!V2 = !pto.tensor_view<64xf32>
func.func @copy_shapes(%V1: !V1, %V2: !V2, %SES: !SES) {
  // expected-error @below {{expects views of one shape, got}}
  %s = pto.tput_async(%V1, %V2, %SES : !V1, !V2, !SES) -> !pto.async_event
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
func.func @queue_split(%V: !V) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0 : i32
  %h = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0} (%z : i32) -> !pto.pipe
  // expected-error @below {{expects split 0 (whole), 1 (upper and lower) or 2 (left and right), 3 or 4 (the same with one more in the first part), got 5}}
  pto.tpush(%V, %h : !V, !pto.pipe) {split = 5}
  return
}
}

// -----

module attributes {pto.target_arch = "a5"} {
func.func @queue_directions() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0 : i32
  // expected-error @below {{expects dir_mask 1 (cube to vector), 2 (vector to cube) or 3 (both), got 4}}
  %h = pto.initialize_l2l_pipe {dir_mask = 4, slot_size = 1024, slot_num = 8, flag_base = 0} (%z : i32) -> !pto.pipe
  return
}
}

// -----

module attributes {pto.target_arch = "a5"} {
func.func @front_slot() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0 : i32
  // expected-error @below {{expects a positive slot_size, got 0}}
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 0} (c2v_consumer_buf = %z : i32, v2c_consumer_buf = %z : i32)
  return
}
}

// -----

module attributes {pto.target_arch = "a5"} {
func.func @queue_slot() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0 : i32
  // expected-error @below {{expects a positive slot_size, got 0}}
  %h = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 0, slot_num = 8, flag_base = 0} (%z : i32) -> !pto.pipe
  return
}
}

// -----

module attributes {pto.target_arch = "a5"} {
func.func @queue_flag() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0 : i32
  // expected-error @below {{expects a flag_base of 0 or more, got -1}}
  %h = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 64, slot_num = 8, flag_base = -1} (%z : i32) -> !pto.pipe
  return
}
}

// -----

!PQ = !pto.pipe
module attributes {pto.target_arch = "a5"} {
func.func @queue_handle(%PQ: !PQ) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{expects a queue of initialize_l2l_pipe or initialize_l2g2l_pipe}}
  pto.tfree(%PQ : !PQ) {split = 0}
  return
}
}

// -----

!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
module attributes {pto.target_arch = "a5"} {
func.func @queue_memory(%L: !L) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0 : i32
  %h = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0} (%z : i32) -> !pto.pipe
  // expected-error @below {{works on no tile of this memory}}
  pto.tpush(%L, %h : !L, !pto.pipe) {split = 0}
  return
}
}

// -----

!DY = !pto.tile_buf<vec, 32x32xf32, valid=?x?>
module attributes {pto.target_arch = "a5"} {
func.func @front_pop_extents(%x0: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{expects a valid row and a valid column together}}
  %t = "pto.tpop_from_aic"(%x0) <{operandSegmentSizes = array<i32: 1, 0>, split = 0 : i8}> : (index) -> !DY
  return
}
}

// -----

func.func @reserve_base() {
  // expected-error @below {{expects a base of 0 or more, got -4}}
  %b = pto.reserve_buffer {name = "q", size = 64, location = #pto.address_space<vec>, auto = false, base = -4} -> i32
  return
}

// -----

func.func @reserve_once() {
  // expected-error @below {{may stand once in a function, or once with each name}}
  %a = pto.reserve_buffer {name = "a", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  %b = pto.reserve_buffer {name = "a", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  return
}

// -----

module attributes {pto.target_arch = "a5"} {
func.func @front_once() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0 : i32
  // expected-error @below {{may stand once in a function}}
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64} (c2v_consumer_buf = %z : i32, v2c_consumer_buf = %z : i32)
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64} (c2v_consumer_buf = %z : i32, v2c_consumer_buf = %z : i32)
  return
}
}

// -----

func.func @import_once() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // expected-error @below {{may stand once in a function, or once for each buffer}}
  %a = pto.import_reserved_buffer {name = "q", peer_func = @peer} -> i32
  %b = pto.import_reserved_buffer {name = "q", peer_func = @peer} -> i32
  return
}
func.func @peer() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "q", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a3"} {
  func.func @reciprocal_in_place(%V: !V) {
    // expected-error @below {{expects a destination that is not the source on a3}}
    pto.trecip ins(%V : !V) outs(%V : !V)
    return
  }
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @pattern_beside_indices(%V: !V, %I: !I) {
  // expected-error @below {{expects one source beside a pattern}}
  pto.tgather ins(%V, %I : !V, !I) outs(%V : !V) maskPattern = #pto.mask_pattern<P0101>
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @fill_location(%A: !A, %e: f32) {
  // expected-error @below {{expects a vec or mat tile, got acc}}
  pto.texpands ins(%e : f32) outs(%A : !A)
  return
}

// -----

!M = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
!G = !pto.partition_tensor_view<32x32xf16>
module attributes {pto.target_arch = "a5"} {
  func.func @store_location(%M: !M, %g: !G) {
    // expected-error @below {{expects a tile in vec or acc, got mat}}
    pto.tstore ins(%M : !M) outs(%g : !G)
    return
  }
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @pop_valid(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{expects a tile with valid=?x? for a valid row and column, got}}
  %t = pto.tpop_from_aic (%n, %n) {split = 0} -> !V
  return
}

// -----

!L = !pto.tile_buf<left, 32x64xf8E4M3FN, slayout=row_major>
!R = !pto.tile_buf<right, 64x32xf8E4M3FN, slayout=col_major>
!SA = !pto.tile_buf<scaling, 32x64xui8>
!SB = !pto.tile_buf<scaling, 64x32xui8>
!M = !pto.tile_buf<mat, 32x4xui8>
!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a5"} {
func.func @scales_beyond(%l: !L, %r: !R, %m: !M, %s: !SA, %t: !SB, %a: !A) {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  // expected-error @below {{expects the part 32x64 at (0, 3) within 32x4}}
  pto.textract ins(%m, %zero, %three : !M, index, index) outs(%s : !SA)
  pto.tmatmul.mx ins(%l, %s, %r, %t : !L, !SA, !R, !SB) outs(%a : !A)
  return
}
}

// Texts that the public assembler rejects are rejected with a reason. One case per rule.
// RUN: pto-opt %s -split-input-file -verify-diagnostics

!D = !pto.tensor_view<?x?xf32>
!PH = !pto.ptr<f16>
// expected-note @below {{prior use here}}
func.func @pointer_type(%ph: !PH, %x1: index, %x32: index) {
  // expected-error @below {{use of value '%ph' expects different type than prior uses}}
  %res = pto.make_tensor_view %ph, shape = [%x32, %x32], strides = [%x32, %x1] : !D
  return
}

// -----

!D = !pto.tensor_view<?x?xf32>
!P = !pto.ptr<f32>
func.func @no_comma(%p: !P, %x1: index, %x32: index) {
  // expected-error @below {{expected ','}}
  %res = pto.make_tensor_view %p, shape = [%x32, %x32] strides = [%x32, %x1] : !D
  return
}

// -----

!P = !pto.ptr<f32>
func.func @old_rank(%p: !P, %x1: index, %x32: index) {
  // expected-error @below {{expects 1 sizes and 1 strides}}
  %res = pto.make_tensor_view %p, shape = [%x32, %x32], strides = [%x32, %x1] : !pto.tensor_view<2xf32>
  return
}

// -----

!D = !pto.tensor_view<?x?xf32>
!P = !pto.ptr<f32>
func.func @counts(%p: !P, %x1: index, %x32: index) {
  // expected-error @below {{expects 2 sizes and 2 strides}}
  %res = pto.make_tensor_view %p, shape = [%x32, %x32], strides = [%x1] : !D
  return
}

// -----

!D = !pto.tensor_view<?x?xf32>
func.func @zero_size(%d: !D, %x0: index, %x32: index) {
  %z0 = arith.constant 0 : index
  // expected-error @below {{expects size 0 > 0, got 0}}
  %res = pto.partition_view %d, offsets = [%x0, %x0], sizes = [%z0, %x32] : !D -> !pto.partition_tensor_view<?x32xf32>
  return
}

// -----

!D = !pto.tensor_view<?x?xf32>
func.func @size_dim(%d: !D, %x0: index, %x32: index) {
  %z16 = arith.constant 16 : index
  // expected-error @below {{expects dimension 0 of the result to be 16, got 32}}
  %res = pto.partition_view %d, offsets = [%x0, %x0], sizes = [%z16, %x32] : !D -> !pto.partition_tensor_view<32x32xf32>
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @interleaved(%v: !V, %v1: !V, %v2: !V) {
  // expected-error @below {{expected ','}}
  pto.tmul ins(%v : !V, %v1 : !V) outs(%v2 : !V)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @no_outs_type(%v: !V, %v1: !V, %v2: !V) {
  // expected-error @below {{expected ':'}}
  pto.tadd ins(%v, %v1 : !V, !V) outs(%v2)
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @tile_same_dtype(%i: !I, %v: !V, %v2: !V) {
  // expected-error @below {{expects the same element type on every tile, got 'f32' and 'i32'}}
  pto.tadd ins(%v, %i : !V, !I) outs(%v2 : !V)
  return
}

// -----

!R = !pto.tile_buf<vec, 1x32xf32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @tile_same_valid(%r: !R, %v: !V, %v2: !V) {
  // expected-error @below {{expects the same valid shape on every tile, got 32x32 and 1x32}}
  pto.tadd ins(%v, %r : !V, !R) outs(%v2 : !V)
  return
}

// -----

!BAD = !pto.tile_buf<vec, 32x32xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @tile_row_major(%bad: !BAD, %v2: !V) {
  // expected-error @below {{expects blayout=row_major on every tile}}
  pto.tadd ins(%bad, %bad : !BAD, !BAD) outs(%v2 : !V)
  return
}

// -----

!BF = !pto.tile_buf<vec, 32x32xbf16>
func.func @tile_dtype(%bf: !BF) {
  // expected-error @below {{does not work on 'bf16' on a3; expects one of f16 f32 i16 i32}}
  pto.tadd ins(%bf, %bf : !BF, !BF) outs(%bf : !BF)
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
func.func @index_scalar(%i: !I, %i1: !I, %x1: index) {
  // expected-error @below {{must be integer or float scalar, but got 'index'}}
  pto.tmuls ins(%i, %x1 : !I, index) outs(%i1 : !I)
  return
}

// -----

!G = !pto.partition_tensor_view<32x32xf32>
!H = !pto.tile_buf<vec, 32x32xf16>
func.func @tload_size(%g: !G, %h: !H) {
  // expected-error @below {{expects source and destination elements of one size}}
  pto.tload ins(%g : !G) outs(%h : !H)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!G = !pto.partition_tensor_view<32x32xf32>
func.func @tload_acc(%a: !A, %g: !G) {
  // expected-error @below {{expects a vec or mat tile as destination, got acc}}
  pto.tload ins(%g : !G) outs(%a : !A)
  return
}

// -----

!GH = !pto.partition_tensor_view<32x32xf16>
!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
func.func @tstore_left(%gh: !GH, %l: !L) {
  // expected-error @below {{expects a tile in vec, mat or acc, got left}}
  pto.tstore ins(%l : !L) outs(%gh : !GH)
  return
}

// -----

!G = !pto.partition_tensor_view<32x32xf32>
!R = !pto.tile_buf<vec, 1x32xf32>
func.func @tstore_count(%g: !G, %r: !R) {
  // expected-error @below {{expects a view of 32 elements (valid 1x32), got 1024}}
  pto.tstore ins(%r : !R) outs(%g : !G)
  return
}

// -----

!G = !pto.partition_tensor_view<32x32xf32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @tstore_relu(%g: !G, %v: !V) {
  // expected-error @below {{expects an acc tile for relu or quantisation, got vec}}
  pto.tstore ins(%v : !V) outs(%g : !G) {reluPreMode = #pto<relu_pre_mode normal_relu>}
  return
}

// -----

!H = !pto.tile_buf<vec, 32x32xf16>
!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
func.func @tmov(%h: !H, %l: !L) {
  // expected-error @below {{cannot move from vec to left}}
  pto.tmov ins(%h : !H) outs(%l : !L)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!MF = !pto.tile_buf<mat, 32x32xf32, blayout=col_major, slayout=row_major>
func.func @textract(%a: !A, %mf: !MF, %x0: index) {
  // expected-error @below {{cannot extract from acc to mat}}
  pto.textract ins(%a, %x0, %x0 : !A, index, index) outs(%mf : !MF)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!T = !pto.tile_buf<right, 32x32xf16, slayout=col_major>
func.func @matmul_swapped(%a: !A, %l: !L, %t: !T) {
  // expected-error @below {{expects lhs in left, got right}}
  pto.tmatmul ins(%t, %l : !T, !L) outs(%a : !A)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!T = !pto.tile_buf<right, 32x32xf16, slayout=col_major>
func.func @acc_last(%a: !A, %l: !L, %t: !T) {
  // expected-error @below {{does not work on (f16, f16, f32) on a3; expects one of (f32, f32, f32) (f32, f16, f16)}}
  pto.tmatmul.acc ins(%l, %t, %a : !L, !T, !A) outs(%a : !A)
  return
}

// -----

!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @row_no_tmp(%c: !C, %v: !V) {
  // expected-error @below {{expected ','}}
  pto.trowmax ins(%v : !V) outs(%c : !C)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @row_dst(%v: !V, %v1: !V, %v2: !V) {
  // expected-error @below {{expects one valid column in the destination, got 32x32}}
  pto.trowsum ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  return
}

// -----

!R = !pto.tile_buf<vec, 1x32xf32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @colsum_tmp(%r: !R, %v: !V, %v1: !V) {
  // expected-error @below {{expects tmp and isBinary together}}
  pto.tcolsum ins(%v, %v1 : !V, !V) outs(%r : !R)
  return
}

// -----

!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @rowexpandadd_tmp(%c: !C, %v: !V, %v1: !V, %v2: !V) {
  // expected-error @below {{expected ':'}}
  pto.trowexpandadd ins(%v, %c, %v2 : !V, !C, !V) outs(%v1 : !V)
  return
}

// -----

!H = !pto.tile_buf<vec, 32x32xf16>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @tcvt_attr(%h: !H, %v: !V) {
  // expected-error @below {{expected}}
  pto.tcvt ins(%v : !V) outs(%h : !H) {rmode = #pto<round_mode RINT>}
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @wide_mask(%i: !I, %v: !V, %v1: !V) {
  // expected-error @below {{expects dst of i8, ui8 or ui32, got 'i32'}}
  pto.tcmp ins(%v, %v1 {cmpMode = #pto<cmp lt>} : !V, !V) outs(%i : !I)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @fillpad_null(%v: !V, %v1: !V) {
  // expected-error @below {{expects a destination with a pad value}}
  pto.tfillpad ins(%v : !V) outs(%v1 : !V)
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
func.func @tci(%i: !I, %k: i16) {
  // expected-error @below {{expects a start of the tile's type, got 'i16' for 'i32'}}
  pto.tci ins(%k : i16) outs(%i : !I)
  return
}

// -----

!S = !pto.tile_buf<vec, 32x32xi16>
func.func @tands(%k: i16, %s: !S) {
  // expected-error @below {{expects a destination that is none of the sources}}
  pto.tands ins(%s, %k : !S, i16) outs(%s : !S)
  return
}

// -----

func.func @flag_brackets() {
  // expected-error @below {{expected '['}}
  pto.set_flag <PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>
  return
}

// -----

func.func @block_type() {
  // expected-error @below {{expected operation name in quotes}}
  %res = pto.get_block_idx : i64
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @valid_static(%x16: index) {
  // expected-error @below {{expects no valid_row}}
  %res = pto.alloc_tile valid_row = %x16 : !V
  return
}

// -----

func.func @valid_missing() {
  // expected-error @below {{expects valid_row}}
  %res = pto.alloc_tile : !pto.tile_buf<vec, 32x32xf32, valid=?x32>
  return
}

// -----

!R = !pto.tile_buf<vec, 1x32xf32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @reshape_bytes(%v: !V) {
  // expected-error @below {{expects a result of 4096 bytes, got 128}}
  %res = pto.treshape %v : !V -> !R
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @bitcast_same(%v: !V) {
  // expected-error @below {{expects another element type than}}
  %res = pto.bitcast %v : !V -> !V
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @validshape(%v: !V, %x1: index) {
  // expected-error @below {{expects a tile with valid=?x?}}
  pto.set_validshape %v, %x1, %x1 : !V
  return
}

// -----

!P = !pto.ptr<f32>
func.func @store_order(%e: f32, %p: !P, %x1: index) {
  // expected-error @below {{expected}}
  pto.store_scalar %p[%x1], %e : !P, f32
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @unary_two(%v: !V, %v1: !V, %v2: !V) {
  // expected-error @below {{expected ':'}}
  pto.tabs ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  return
}

// -----

!MA = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
func.func @subset_box(%ma: !MA, %x0: index) {
  // expected-error @below {{expects sizes that are multiples of the inner box 16x16}}
  %res = pto.subset %ma[%x0, %x0] sizes [8, 32] : !MA
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!MA = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
func.func @img2col_rows(%l: !L, %ma: !MA, %x0: index) {
  // expected-error @below {{expects an image of at most 32 pixels}}
  pto.timg2col ins(%ma, %x0, %x0 : !MA, index, index) outs(%l : !L) {channels = 3, dilations = [1, 1], image = [8, 8], kernel = [3, 3], pads = [1, 1, 0, 1], strides = [1, 2]}
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!MA = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
func.func @img2col_pads(%l: !L, %ma: !MA, %x0: index) {
  // expected-error @below {{expects 4 values in pads, got 2}}
  pto.timg2col ins(%ma, %x0, %x0 : !MA, index, index) outs(%l : !L) {channels = 3, dilations = [1, 1], image = [4, 8], kernel = [3, 3], pads = [1, 1], strides = [1, 2]}
  return
}

// -----

!E = !pto.tile_buf<vec, 0x16xf32>
func.func @empty_tile(%v: !pto.tile_buf<vec, 16x16xf32>) {
  %e = pto.alloc_tile : !E
  // expected-error @below {{expects tiles with positive rows and columns, got 0x16}}
  pto.tmov ins(%v : !pto.tile_buf<vec, 16x16xf32>) outs(%e : !E)
  return
}

// -----

!I = !pto.tile_buf<vec, 16x16xi32>
!S = !pto.tile_buf<vec, 16x16xi16>
func.func @shift_types(%i: !I, %s: !S) {
  // expected-error @below {{does not work on 'i32' and 'i16' on a3; expects all of one type, one of i8 ui8 i16 ui16 i32 ui32}}
  pto.tshr ins(%i, %s : !I, !S) outs(%i : !I)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @subview_offsets(%v: !V, %x: index) {
  // expected-error @below {{expects two offsets and two sizes, got 1 and 2}}
  %s = pto.subview %v[%x] sizes [8, 8] : !V
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @subview_sizes(%v: !V, %x: index) {
  // expected-error @below {{expects positive sizes within 32x32, got 8x64}}
  %s = pto.subview %v[%x, %x] sizes [8, 64] : !V
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @subview_no_sizes(%v: !V, %x: index) {
  // expected-error @below {{expects two sizes}}
  %s = pto.subview %v[%x, %x] sizes [8] : !V
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @subview_empty(%v: !V, %x: index) {
  // expected-error @below {{expects positive sizes of a part of a tile}}
  %s = pto.subview %v[%x, %x] sizes [0, 8] : !V
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @subview_outside(%v: !V) {
  %c = arith.constant 30 : index
  // expected-error @below {{expects a part within 32x32, got 8x8 at a place outside}}
  %s = pto.subview %v[%c, %c] sizes [8, 8] : !V
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @subview_type(%v: !V, %x: index) {
  // expected-error @below {{or with another valid part, got '!pto.tile_buf<vec, 8x8xf16>'}}
  %s = pto.subview %v[%x, %x] sizes [8, 8] : !V -> !pto.tile_buf<vec, 8x8xf16>
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @subview_one_valid(%v: !V, %x: index) {
  // expected-error @below {{expects two valid extents, got 1}}
  %s = pto.subview %v[%x, %x] sizes [8, 8] valid [%x] : !V
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @subview_valid(%v: !V, %x: index) {
  %c = arith.constant 9 : index
  // expected-error @below {{expects valid extents from 1 to the sizes, got 9 of 8}}
  %s = pto.subview %v[%x, %x] sizes [8, 8] valid [%x, %c] : !V
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @subview_valid_type(%v: !V, %x: index) {
  // expected-error @below {{expects a result whose valid part is ? there, got 8}}
  %s = pto.subview %v[%x, %x] sizes [8, 8] valid [%x, %x] : !V -> !pto.tile_buf<vec, 8x8xf32>
  return
}

// -----

!M = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
func.func @subview_box(%m: !M, %x: index) {
  // expected-error @below {{expects all rows of a column-major boxed tile}}
  %s = pto.subview %m[%x, %x] sizes [16, 16] : !M
  return
}

// -----

!M = !pto.tile_buf<mat, 32x32xf16, blayout=row_major, slayout=col_major>
func.func @subview_row_across(%m: !M, %x: index, %c: index) {
  // expected-error @below {{expects sizes that are multiples of the inner box 16x16}}
  %s = pto.subview %m[%x, %c] sizes [1, 32] : !M
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @subview_half_valid(%v: !V, %x: index) {
  // expected-error @below {{expects both valid extents or none}}
  %s = "pto.subview"(%v, %x, %x, %x) <{operandSegmentSizes = array<i32: 1, 2, 1, 0>, sizes = [8, 8]}> : (!V, index, index, index) -> !pto.tile_buf<vec, 8x8xf32, valid=?x8>
  return
}

// -----

func.func @subset_sizes(%t: !pto.tile_buf<vec, 16x16xf32>, %i: index) {
  // expected-error @below {{expects a tile, two offsets and two sizes}}
  %s = pto.subset %t[%i, %i] sizes [f32, 8] : !pto.tile_buf<vec, 16x16xf32>
  return
}

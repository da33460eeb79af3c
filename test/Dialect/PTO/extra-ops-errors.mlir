// One case per rule of the ops that only hand-written kernels use, and of rules common to all ops.
// RUN: pto-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

!V = !pto.tile_buf<vec, 32x32xf32>
!I = !pto.tile_buf<vec, 32x32xi32>
func.func @gather_pattern_operands(%V: !V, %I: !I) {
  // expected-error @below {{expects only a source and a destination beside a pattern}}
  "pto.tgather"(%V, %V, %I) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>, maskPattern = #pto.mask_pattern<P0101>}> : (!V, !V, !I) -> ()
  return
}

// -----

!B = !pto.tile_buf<vec, 32x32xi8>
func.func @gather_pattern_byte(%B: !B) {
  // expected-error @below {{expects elements of 2 or 4 bytes on a3}}
  pto.tgather ins(%B, {maskPattern = #pto.mask_pattern<P0101>} : !B) outs(%B : !B)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!S = !pto.tile_buf<vec, 32x32xi16>
func.func @gather_pattern_size(%V: !V, %S: !S) {
  // expected-error @below {{expects elements of one size}}
  pto.tgather ins(%V, {maskPattern = #pto.mask_pattern<P0101>} : !V) outs(%S : !S)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!I = !pto.tile_buf<vec, 32x32xi32>
func.func @gather_compare_mode(%V: !V, %e: f32, %I: !I) {
  // expected-error @below {{expects cmpMode eq or gt, got lt}}
  pto.tgather ins(%V, %e, %V : !V, f32, !V) outs(%I, %I : !I, !I) {cmpMode = #pto<cmp lt>}
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!I = !pto.tile_buf<vec, 32x32xi32>
func.func @gather_compare_scalar(%V: !V, %n: i32, %I: !I) {
  // expected-error @below {{expects a scalar of 'f32', got 'i32'}}
  pto.tgather ins(%V, %n, %V : !V, i32, !V) outs(%I, %I : !I, !I)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @gather_compare_dst(%V: !V, %e: f32) {
  // expected-error @below {{expects a destination of i32}}
  pto.tgather ins(%V, %e, %V : !V, f32, !V) outs(%V, %V : !V, !V)
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @gather_compare_type(%I: !I, %n: i32, %V: !V) {
  // expected-error @below {{cannot compare 'i32'}}
  pto.tgather ins(%I, %n, %V : !I, i32, !V) outs(%I, %I : !I, !I) {cmpMode = #pto<cmp gt>}
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!I = !pto.tile_buf<vec, 32x32xi32>
func.func @gather_no_tmp(%V: !V, %I: !I) {
  // expected-error @below {{expects indices and a tmp}}
  pto.tgather ins(%V, %I : !V, !I) outs(%V : !V)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!S = !pto.tile_buf<vec, 32x32xi16>
func.func @gather_index_type(%V: !V, %S: !S) {
  // expected-error @below {{expects indices of i32}}
  pto.tgather ins(%V, %S, %S : !V, !S, !S) outs(%V : !V)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!I = !pto.tile_buf<vec, 32x32xi32>
!S = !pto.tile_buf<vec, 32x32xi16>
func.func @gather_types(%V: !V, %I: !I, %S: !S) {
  // expected-error @below {{expects one element type}}
  pto.tgather ins(%V, %I, %I : !V, !I, !I) outs(%S : !S)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!S = !pto.tile_buf<vec, 32x32xi16>
func.func @scatter_index(%V: !V, %S: !S) {
  // expected-error @below {{expects indexes of i32 for 'f32'}}
  pto.tscatter ins(%V, %S : !V, !S) outs(%V : !V)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!I = !pto.tile_buf<vec, 32x32xi32>
func.func @scatter_types(%V: !V, %I: !I) {
  // expected-error @below {{expects one element type}}
  pto.tscatter ins(%V, %I : !V, !I) outs(%I : !I)
  return
}

// -----

!G = !pto.partition_tensor_view<32x32xf32>
!I = !pto.tile_buf<vec, 32x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @global_gather_on_a3(%G: !G, %I: !I, %V: !V) {
  // expected-error @below {{exists on a5 only}}
  pto.mgather ins(%G, %I : !G, !I) outs(%V : !V)
  return
}

// -----

!H = !pto.partition_tensor_view<32x32xf16>
!I = !pto.tile_buf<vec, 32x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
func.func @global_gather_type(%H: !H, %I: !I, %V: !V) {
  // expected-error @below {{expects a destination of f16 for 'f16' on a5, got 'f32'}}
  pto.mgather ins(%H, %I : !H, !I) outs(%V : !V)
  return
}
}

// -----

!G = !pto.partition_tensor_view<32x32xf32>
!W = !pto.tile_buf<vec, 32x32xui32>
!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
func.func @global_gather_index(%G: !G, %W: !W, %V: !V) {
  // expected-error @below {{expects indices of i32}}
  pto.mgather ins(%G, %W : !G, !W) outs(%V : !V)
  return
}
}

// -----

!W = !pto.tile_buf<vec, 32x32xui32>
!I = !pto.tile_buf<vec, 32x32xi32>
module attributes {pto.target_arch = "a5"} {
func.func @global_scatter_atomic(%W: !W, %I: !I, %w: !pto.partition_tensor_view<32x32xui32>) {
  // expected-error @below {{cannot max atomically}}
  pto.mscatter ins(%W, %I : !W, !I) outs(%w : !pto.partition_tensor_view<32x32xui32>) {scatterAtomicOp = #pto<scatter_atomic_op max>}
  return
}
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!I = !pto.tile_buf<vec, 32x32xi32>
!O = !pto.tile_buf<vec, 32x64xf32>
func.func @sort_index(%V: !V, %I: !I, %O: !O) {
  // expected-error @below {{expects indices of ui32}}
  pto.tsort32 ins(%V, %I : !V, !I) outs(%O : !O)
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!W = !pto.tile_buf<vec, 32x32xui32>
func.func @sort_type(%I: !I, %W: !W) {
  // expected-error @below {{does not work on 'i32' on a3; expects one of f32 f16}}
  pto.tsort32 ins(%I, %W : !I, !W) outs(%I : !I)
  return
}

// -----

!R = !pto.tile_buf<vec, 1x256xf32>
func.func @merge_length(%R: !R) {
  %c3 = arith.constant 3 : i32
  // expected-error @below {{expects a run length that is a positive multiple of 64, got 3}}
  pto.tmrgsort ins(%R, %c3 : !R, i32) outs(%R : !R)
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @merge_rows(%V: !V, %n: i32) {
  // expected-error @below {{expects two tiles of one row}}
  pto.tmrgsort ins(%V, %n : !V, i32) outs(%V : !V)
  return
}

// -----

!R = !pto.tile_buf<vec, 1x256xf32>
func.func @merge_vector(%R: !R, %n: i32) {
  // expected-error @below {{expects vector<4xi16> as second destination}}
  pto.tmrgsort ins(%R, %R, %R : !R, !R, !R) outs(%R, %n : !R, i32)
  return
}

// -----

!R = !pto.tile_buf<vec, 1x256xf32>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @merge_tmp(%R: !R, %V: !V) {
  %ex = arith.constant dense<0> : vector<4xi16>
  // expected-error @below {{expects a tmp of the destination's shape}}
  pto.tmrgsort ins(%R, %R, %V : !R, !R, !V) outs(%R, %ex : !R, vector<4xi16>)
  return
}

// -----

!X = !pto.tile_buf<vec, 32x32xui16>
!Q = !pto.tile_buf<vec, 32x1xui8, blayout=col_major>
!Y = !pto.tile_buf<vec, 32x256xui32>
func.func @histogram_on_a3(%X: !X, %Q: !Q, %Y: !Y) {
  // expected-error @below {{exists on a5 only}}
  pto.thistogram ins(%X, %Q : !X, !Q) outs(%Y : !Y)
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!Q = !pto.tile_buf<vec, 32x1xui8, blayout=col_major>
!Y = !pto.tile_buf<vec, 32x256xui32>
module attributes {pto.target_arch = "a5"} {
func.func @histogram_types(%I: !I, %Q: !Q, %Y: !Y) {
  // expected-error @below {{does not work on 'i32' on a5; expects one of ui16}}
  pto.thistogram ins(%I, %Q : !I, !Q) outs(%Y : !Y)
  return
}
}

// -----

!X = !pto.tile_buf<vec, 32x32xui16>
!Q = !pto.tile_buf<vec, 32x1xui8, blayout=col_major>
!W = !pto.tile_buf<vec, 32x32xui32>
module attributes {pto.target_arch = "a5"} {
func.func @histogram_bins(%X: !X, %Q: !Q, %W: !W) {
  // expected-error @below {{expects at least 256 columns}}
  pto.thistogram ins(%X, %Q : !X, !Q) outs(%W : !W)
  return
}
}

// -----

!X = !pto.tile_buf<vec, 32x32xui16>
!U = !pto.tile_buf<vec, 32x32xui8>
!Y = !pto.tile_buf<vec, 32x256xui32>
module attributes {pto.target_arch = "a5"} {
func.func @histogram_index(%X: !X, %U: !U, %Y: !Y) {
  // expected-error @below {{expects indices in one column}}
  pto.thistogram ins(%X, %U : !X, !U) outs(%Y : !Y)
  return
}
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @tri_side(%n: i32, %V: !V) {
  // expected-error @below {{expects upperOrLower 0 (lower) or 1 (upper), got 2}}
  pto.ttri ins(%n {upperOrLower = 2 : i32} : i32) outs(%V : !V)
  return
}

// -----

!B = !pto.tile_buf<vec, 32x32xi8>
func.func @tri_type(%n: i32, %B: !B) {
  // expected-error @below {{does not work on 'i8' on a3; expects one of f16 f32 i16 i32 ui16 ui32}}
  pto.ttri ins(%n : i32) outs(%B : !B)
  return
}

// -----

!W = !pto.tile_buf<vec, 32x32xui32>
module attributes {pto.target_arch = "a5"} {
func.func @random_rounds(%n: i32, %W: !W) {
  // expected-error @below {{expects 7 or 10 rounds, got 8}}
  pto.trandom ins(%n, %n, %n, %n, %n, %n {rounds = 8 : i32} : i32, i32, i32, i32, i32, i32) outs(%W : !W)
  return
}
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
func.func @random_type(%n: i32, %V: !V) {
  // expected-error @below {{does not work on 'f32' on a5; expects one of i32 ui32}}
  pto.trandom ins(%n, %n, %n, %n, %n, %n : i32, i32, i32, i32, i32, i32) outs(%V : !V)
  return
}
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!U = !pto.tile_buf<vec, 32x32xui8>
func.func @quant_dst(%V: !V, %C: !C, %U: !U) {
  // expected-error @below {{expects a destination of i8 for INT8_SYM}}
  pto.tquant ins(%V, %C : !V, !C) outs(%U : !U) {quant_type = #pto<quant_type INT8_SYM>}
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!U = !pto.tile_buf<vec, 32x32xui8>
func.func @quant_offset(%V: !V, %C: !C, %U: !U) {
  // expected-error @below {{expects an offset for INT8_ASYM}}
  pto.tquant ins(%V, %C : !V, !C) outs(%U : !U) {quant_type = #pto<quant_type INT8_ASYM>}
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!B = !pto.tile_buf<vec, 32x32xi8>
func.func @quant_no_offset(%V: !V, %C: !C, %B: !B) {
  // expected-error @below {{expects no offset for INT8_SYM}}
  pto.tquant ins(%V, %C, %C : !V, !C, !C) outs(%B : !B) {quant_type = #pto<quant_type INT8_SYM>}
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!B = !pto.tile_buf<vec, 32x32xi8>
func.func @quant_src(%I: !I, %C: !C, %B: !B) {
  // expected-error @below {{expects a source of f32}}
  pto.tquant ins(%I, %C : !I, !C) outs(%B : !B) {quant_type = #pto<quant_type INT8_SYM>}
  return
}

// -----

!I = !pto.tile_buf<vec, 32x32xi32>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!V = !pto.tile_buf<vec, 32x32xf32>
func.func @dequant_src(%I: !I, %C: !C, %V: !V) {
  // expected-error @below {{does not work on 'i32' on a3; expects one of i8 i16}}
  pto.tdequant ins(%I, %C, %C : !I, !C, !C) outs(%V : !V)
  return
}

// -----

!B = !pto.tile_buf<vec, 32x32xi8>
!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!I = !pto.tile_buf<vec, 32x32xi32>
func.func @dequant_dst(%B: !B, %C: !C, %I: !I) {
  // expected-error @below {{expects a destination of f32}}
  pto.tdequant ins(%B, %C, %C : !B, !C, !C) outs(%I : !I)
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf8E4M3FN, slayout=row_major>
module attributes {pto.target_arch = "a5"} {
func.func @scale_memory(%L: !L) {
  // expected-error @below {{expects dst in scaling, got left}}
  pto.tget_scale_addr ins(%L : !L) outs(%L : !L)
  return
}
}

// -----

!M = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
!K = !pto.tile_buf<scaling, 32x32xf8E4M3FN>
!T = !pto.tile_buf<right, 32x32xf8E4M3FN, slayout=col_major>
!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a5"} {
func.func @scaled_types(%M: !M, %K: !K, %T: !T, %A: !A) {
  // expected-error @below {{expects a pair of fp8 into f32}}
  pto.tmatmul.mx ins(%M, %K, %T, %K : !M, !K, !T, !K) outs(%A : !A)
  return
}
}

// -----

!L = !pto.tile_buf<left, 32x32xf8E4M3FN, slayout=row_major>
!K = !pto.tile_buf<scaling, 32x32xf8E4M3FN>
!T = !pto.tile_buf<right, 32x32xf8E4M3FN, slayout=col_major>
!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @scaled_vector_on_a3(%L: !L, %K: !K, %T: !T, %A: !A) {
  // expected-error @below {{exists on a5 only}}
  pto.tgemv.mx ins(%L, %K, %T, %K : !L, !K, !T, !K) outs(%A : !A)
  return
}

// -----

!L = !pto.tile_buf<left, 32x32xf8E4M3FN, slayout=row_major>
!K = !pto.tile_buf<scaling, 32x32xf8E4M3FN>
!T = !pto.tile_buf<right, 32x32xf8E4M3FN, slayout=col_major>
!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a5"} {
func.func @scaled_vector_rows(%L: !L, %K: !K, %T: !T, %A: !A) {
  // expected-error @below {{expects one valid row}}
  pto.tgemv.mx ins(%L, %K, %T, %K : !L, !K, !T, !K) outs(%A : !A)
  return
}
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
!L = !pto.tile_buf<left, 32x32xf8E4M3FN, slayout=row_major>
!K = !pto.tile_buf<scaling, 32x32xf8E4M3FN>
!T = !pto.tile_buf<right, 32x32xf8E4M3FN, slayout=col_major>
!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {pto.target_arch = "a5"} {
func.func @scaled_acc(%V: !V, %L: !L, %K: !K, %T: !T, %A: !A) {
  // expected-error @below {{expects c_in in acc}}
  pto.tmatmul.mx.acc ins(%V, %L, %K, %T, %K : !V, !L, !K, !T, !K) outs(%A : !A)
  return
}
}

// -----

func.func @buffer_id() {
  // expected-error @below {{expects a buffer of 0 to 31, got 32}}
  pto.get_buf[#pto.pipe_event_type<TLOAD>, 32]
  return
}

// -----

module attributes {pto.target_arch = "a5"} {
func.func @core_set_pipe() {
  // expected-error @below {{does not take PIPE_V on a5; expects one of PIPE_FIX PIPE_MTE3}}
  pto.sync.set <PIPE_V>, 3
  return
}
}

// -----

module attributes {pto.target_arch = "a5"} {
func.func @core_wait_pipe() {
  // expected-error @below {{does not take PIPE_S on a5}}
  pto.sync.wait <PIPE_S>, 3
  return
}
}

// -----

func.func @core_set_mode() {
  // expected-error @below {{expects ffts_mode 0, 1 or 2, got 3}}
  pto.sync.set <PIPE_V>, 3 {ffts_mode = 3 : i32}
  return
}

// -----

func.func @core_set_memory(%m: memref<4xf32>) {
  // expected-error @below {{expects memory of i64 or i8}}
  pto.set_ffts %m : memref<4xf32>
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @push_outside(%A: !A) {
  // expected-error @below {{must be in a function with pto.kernel_kind = #pto.kernel_kind<cube>}}
  pto.tpush_to_aiv (%A : !A) {split = 0}
  return
}

// -----

func.func @reserve_place() {
  // expected-error @below {{expects location vec or mat, got acc}}
  %b = pto.reserve_buffer {name = "q", size = 8, location = #pto.address_space<acc>, auto = true} -> i32
  return
}

// -----

func.func @reserve_base() {
  // expected-error @below {{expects a base when auto is false}}
  %b = pto.reserve_buffer {name = "q", size = 8, location = #pto.address_space<vec>, auto = false} -> i32
  return
}

// -----

func.func @reserve_size() {
  // expected-error @below {{expects a positive size, got 0}}
  %b = pto.reserve_buffer {name = "q", size = 0, location = #pto.address_space<vec>, auto = true} -> i32
  return
}

// -----

func.func @import_function() {
  // expected-error @below {{expects a function @nobody, there is none}}
  %b = pto.import_reserved_buffer {name = "q", peer_func = @nobody} -> i32
  return
}

// -----

func.func @import_buffer() {
  // expected-error @below {{expects a reserve_buffer named "q"}}
  %b = pto.import_reserved_buffer {name = "q", peer_func = @import_buffer} -> i32
  return
}

// -----

func.func @queue_slots(%n: i32) {
  // expected-error @below {{expects slot_num of 1 to 8, got 9}}
  %b = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 8, slot_num = 9} (%n : i32) -> !pto.pipe
  return
}

// -----

func.func @queue_mask(%n: i32) {
  // expected-error @below {{expects dir_mask 1}}
  %b = pto.initialize_l2l_pipe {dir_mask = 4, slot_size = 8, slot_num = 8} (%n : i32) -> !pto.pipe
  return
}

// -----

func.func @queue_peer(%n: i32) {
  // expected-error @below {{expects a second local address for dir_mask 3}}
  %b = pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 8, slot_num = 8} (%n : i32) -> !pto.pipe
  return
}

// -----

func.func @queue_local(%n: i32) {
  // expected-error @below {{expects a local_slot_num of 1 to 4, got 5}}
  %b = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 8, slot_num = 4, local_slot_num = 5} (%n : i32, %n : i32) -> !pto.pipe
  return
}

// -----

func.func @free_outside(%n: i32) {
  %b = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 8, slot_num = 8} (%n : i32) -> !pto.pipe
  // expected-error @below {{must be in a section or in a function with pto.kernel_kind}}
  pto.tfree(%b : !pto.pipe) {split = 0}
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @session_scratch(%A: !A, %p: !pto.ptr<i8>) {
  // expected-error @below {{expects scratch in vec, got acc}}
  %s = pto.build_async_session(%A, %p : !A, !pto.ptr<i8>) -> !pto.async_session
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @session_workspace(%V: !V, %pf: !pto.ptr<f32>) {
  // expected-error @below {{expects a workspace of i8}}
  %s = pto.build_async_session(%V, %pf : !V, !pto.ptr<f32>) -> !pto.async_session
  return
}

// -----

!V = !pto.tile_buf<vec, 32x32xf32>
func.func @session_id(%V: !V, %p: !pto.ptr<i8>) {
  // expected-error @below {{expects sync_id within 0 to 7, got 8}}
  %s = pto.build_async_session(%V, %p : !V, !pto.ptr<i8>) {sync_id = 8 : i32} -> !pto.async_session
  return
}

// -----

!P2 = !pto.partition_tensor_view<2x64xf32>
func.func @copy_rank(%P2: !P2, %ses: !pto.async_session) {
  // expected-error @below {{expects static views of one contiguous dimension}}
  %ev = pto.tput_async(%P2, %P2, %ses : !P2, !P2, !pto.async_session) -> !pto.async_event
  return
}

// -----

!N = !pto.tile_buf<vec, 32x32xf32, valid=40x32>
func.func @valid_part(%N: !N) {
  // expected-error @below {{expects a valid part within the 32x32 box, got 40x32}}
  pto.tabs ins(%N : !N) outs(%N : !N)
  return
}

// -----

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @insert_type(%A: !A, %x: index, %mf: !pto.tile_buf<mat, 32x32xf32, blayout=col_major, slayout=row_major>) {
  // expected-error @below {{cannot insert 'f32' into 'f32'; expects f32 into f16 or bf16}}
  pto.tinsert ins(%A, %x, %x : !A, index, index) outs(%mf : !pto.tile_buf<mat, 32x32xf32, blayout=col_major, slayout=row_major>)
  return
}

// -----

!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
module attributes {pto.target_arch = "a5"} {
func.func @extract_layout(%C: !C, %x: index) {
  // expected-error @below {{expects blayout=row_major, slayout=none_box between vec tiles}}
  pto.textract ins(%C, %x, %x : !C, index, index) outs(%C : !C)
  return
}
}

// -----

func.func @config() {
  // expected-error @below {{expects s_fractal_size 16, 32, 512 or 1024, got 7}}
  "x"() {c = #pto.tile_buf_config<s_fractal_size=7>} : () -> ()
  return
}

// -----

func.func @config_key() {
  // expected-error @below {{unknown key 'size'}}
  "x"() {c = #pto.tile_buf_config<size=7>} : () -> ()
  return
}

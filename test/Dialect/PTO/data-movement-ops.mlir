// Every form of these ops parses, verifies and round-trips.
// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s

!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!F = !pto.tile_buf<scaling, 1x32xf32>
!G = !pto.partition_tensor_view<32x32xf32>
!GB = !pto.partition_tensor_view<32x32xi8>
!GH = !pto.partition_tensor_view<32x32xf16>
!L = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!MA = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
!MI = !pto.tile_buf<mat, 32x32xi8, blayout=col_major, slayout=row_major>
!O = !pto.tile_buf<vec, 32x64xf32>
!O1 = !pto.tile_buf<vec, 32x64xf32, pad=1>
!Q = !pto.tile_buf<vec, 32x32xf32, pad=2>
!V = !pto.tile_buf<vec, 32x32xf32>

// CHECK-LABEL: func.func @forms
func.func @forms(%a: !A, %f: !F, %g: !G, %gb: !GB, %gh: !GH, %l: !L, %ma: !MA, %mi: !MI, %o: !O, %o1: !O1, %q: i64, %qq: !Q, %v: !V, %v1: !V, %v2: !V, %x0: index) {
  // CHECK: pto.tload{{[^a-z_.]|$}}
  pto.tload ins(%g : !G) outs(%v : !V)
  // CHECK: pto.tload{{[^a-z_.]|$}}
  pto.tload ins(%g : !G) outs(%v : !V) pad_mode = #pto.padmode<PadNull>
  // CHECK: pto.tprefetch{{[^a-z_.]|$}}
  pto.tprefetch ins(%g : !G) outs(%v : !V)
  // CHECK: pto.tstore{{[^a-z_.]|$}}
  pto.tstore ins(%v : !V) outs(%g : !G)
  // CHECK: pto.tstore{{[^a-z_.]|$}}
  pto.tstore ins(%a : !A) outs(%gh : !GH) {atomicType = #pto<atomic_type atomic_add>, reluPreMode = #pto<relu_pre_mode normal_relu>, stPhase = #pto<st_phase final>}
  // CHECK: pto.tstore{{[^a-z_.]|$}}
  pto.tstore ins(%a : !A, %q : i64) outs(%gb : !GB)
  // CHECK: pto.tstore_fp{{[^a-z_.]|$}}
  pto.tstore_fp ins(%a, %f : !A, !F) outs(%gb : !GB)
  // CHECK: pto.tmov{{[^a-z_.]|$}}
  pto.tmov ins(%ma : !MA) outs(%l : !L)
  // CHECK: pto.tmov{{[^a-z_.]|$}}
  pto.tmov ins(%v : !V) outs(%v1 : !V)
  // CHECK: pto.tmov{{[^a-z_.]|$}}
  pto.tmov ins(%a : !A) outs(%v : !V)
  // CHECK: pto.tmov{{[^a-z_.]|$}}
  pto.tmov ins(%a : !A, %f : !F) outs(%mi : !MI) {reluPreMode = #pto<relu_pre_mode normal_relu>}
  // CHECK: pto.tmov{{[^a-z_.]|$}}
  "pto.tmov"(%a, %mi, %q) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (!A, !MI, i64) -> ()
  // CHECK: pto.tmov.fp{{[^a-z_.]|$}}
  pto.tmov.fp ins(%a, %f : !A, !F) outs(%mi : !MI)
  // CHECK: pto.textract{{[^a-z_.]|$}}
  pto.textract ins(%ma, %x0, %x0 : !MA, index, index) outs(%l : !L)
  // CHECK: pto.textract_fp{{[^a-z_.]|$}}
  pto.textract_fp ins(%a, %f, %x0, %x0 : !A, !F, index, index) outs(%mi : !MI)
  // CHECK: pto.tinsert{{[^a-z_.]|$}}
  pto.tinsert ins(%a, %x0, %x0 : !A, index, index) outs(%ma : !MA)
  // CHECK: pto.tinsert_fp{{[^a-z_.]|$}}
  pto.tinsert_fp ins(%a, %f, %x0, %x0 : !A, !F, index, index) outs(%mi : !MI)
  // CHECK: pto.tconcat{{[^a-z_.]|$}}
  pto.tconcat ins(%v, %v1 : !V, !V) outs(%o : !O)
  // CHECK: pto.tfillpad{{[^a-z_.]|$}}
  pto.tfillpad ins(%v : !V) outs(%qq : !Q)
  // CHECK: pto.tfillpad_inplace{{[^a-z_.]|$}}
  pto.tfillpad_inplace ins(%v : !V) outs(%qq : !Q)
  // CHECK: pto.tfillpad_expand{{[^a-z_.]|$}}
  pto.tfillpad_expand ins(%v : !V) outs(%o1 : !O1)
  // CHECK: pto.ttrans{{[^a-z_.]|$}}
  pto.ttrans ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.timg2col{{[^a-z_.]|$}}
  pto.timg2col ins(%ma, %x0, %x0 : !MA, index, index) outs(%l : !L) {channels = 3, dilations = [1, 1], image = [4, 8], kernel = [3, 3], pads = [1, 1, 0, 1], strides = [1, 2]}
  return
}

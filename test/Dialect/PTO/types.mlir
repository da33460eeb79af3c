// Syntax of tile_buf: both forms are parsed; the compact form without defaults is printed.
// RUN: pto-opt %s | FileCheck %s

// CHECK: func.func private @plain(!pto.tile_buf<vec, 16x16xf32>)
func.func private @plain(!pto.tile_buf<vec, 16x16xf32>)
// CHECK: func.func private @order(!pto.tile_buf<vec, 16x16xf32, valid=?x8, blayout=col_major, pad=2>)
func.func private @order(!pto.tile_buf<vec, 16x16xf32, pad=2, valid=?x8, blayout=col_major>)
// CHECK: func.func private @long(!pto.tile_buf<vec, 16x16xf32, valid=16x?>)
func.func private @long(!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=16, v_col=-1, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK: func.func private @quoted(!pto.tile_buf<vec, 16x16xf32>)
func.func private @quoted(!pto.tile_buf<"vec", 16x16xf32>)
// CHECK: func.func private @acc(!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024, compact=1>)
func.func private @acc(!pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16, v_row=16, v_col=16, blayout=col_major, slayout=row_major, fractal=1024, pad=0, compact=1>)
// The block layout of a left tile depends on the architecture.
// CHECK: func.func private @left(!pto.tile_buf<left, 16x16xf16, slayout=row_major>)
func.func private @left(!pto.tile_buf<left, 16x16xf16, blayout=col_major, slayout=row_major>)
// CHECK: func.func private @views(!pto.tensor_view<2xf32>, !pto.partition_tensor_view<?x4x8xbf16>, !pto.ptr<i8>)
func.func private @views(!pto.tensor_view<2xf32>, !pto.partition_tensor_view<?x4x8xbf16>, !pto.ptr<i8>)
// CHECK: func.func private @attrs() attributes {a = #pto.address_space<vec>, b = #pto.kernel_kind<cube>, c = #pto<cmp lt>, d = #pto<round_mode CAST_RINT>, e = #pto.pad_value<null>, f = #pto.sync_op_type<TVEC>, g = #pto.pipe_event_type<TLOAD>}
func.func private @attrs() attributes {a = #pto.address_space<vec>, b = #pto<kernel_kind<cube>>, c = #pto<cmp lt>, d = #pto<round_mode CAST_RINT>, e = #pto.pad_value<null>, f = #pto.sync_op_type<TVEC>, g = #pto.pipe_event_type<TLOAD>}

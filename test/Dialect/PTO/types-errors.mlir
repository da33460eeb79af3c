// RUN: pto-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{unknown loc 'ub'}}
func.func private @ub(!pto.tile_buf<ub, 16x16xf32>)
// -----
// expected-error @below {{unknown loc 'gm': a tile lives in a local memory}}
func.func private @gm(!pto.tile_buf<gm, 16x16xf32>)
// -----
// expected-error @below {{expected static shape}}
func.func private @dynamic(!pto.tile_buf<vec, ?x16xf32>)
// -----
// expected-error @below {{expects a rank of 2, got 3}}
func.func private @rank(!pto.tile_buf<vec, 2x16x16xf32>)
// -----
// expected-error @below {{duplicate key 'blayout'}}
func.func private @twice(!pto.tile_buf<vec, 16x16xf32, blayout=row_major, blayout=row_major>)
// -----
// expected-error @below {{unknown key 'colour'}}
func.func private @key(!pto.tile_buf<vec, 16x16xf32, colour=red>)
// -----
// expected-error @below {{expected integer value}}
func.func private @pad_word(!pto.tile_buf<vec, 16x16xf32, pad=zero>)
// -----
// expected-error @below {{unknown pad 4}}
func.func private @pad(!pto.tile_buf<vec, 16x16xf32, pad=4>)
// -----
// expected-error @below {{expected ','}}
func.func private @no_pad(!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=16, v_col=16, blayout=row_major, slayout=none_box, fractal=512>)
// -----
// expected-error @below {{expected 'v_row'}}
func.func private @long_order(!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, blayout=row_major, v_row=16, v_col=16, slayout=none_box, fractal=512, pad=0>)
// -----
// expected-error @below {{expects no negative rows and columns, got -2x16}}
func.func private @negative(!pto.tile_buf<loc=vec, dtype=f32, rows=-2, cols=16, v_row=0, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// -----
// expected-error @below {{expects a rank of 1 to 5, got 6}}
func.func private @six(!pto.tensor_view<1x1x1x1x1x1xf32>)
// -----
// expected-error @below {{expected '>'}}
func.func private @ptr(!pto.ptr<f32, gm>)
// -----
// expected-error @below {{expected}}
// expected-error @below {{failed to parse PTO_CmpModeAttr}}
func.func private @family() attributes {c = #pto.cmp<lt>}
// -----
// expected-error @below {{expected}}
// expected-error @below {{failed to parse PTO_CmpModeAttr}}
func.func private @old_name() attributes {c = #pto<cmp less_than>}
// -----
// expected-error @below {{expected}}
func.func private @family2() attributes {c = #pto<pipe PIPE_V>}

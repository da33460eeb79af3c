"""What Python evaluates outside of kernels."""

import warnings

import pypto.language as pl
import pytest
from pypto import DataType, ir
from pypto.ir.utils import caller_warning_stacklevel


def test_forms_outside_of_kernels():
    assert list(pl.range(2, 8, 3)) == [2, 5] and [i for i, (a,) in pl.parallel(2, init_values=(1,))] == [0, 1]
    assert pl.at(pl.Level.CORE_GROUP, name_hint="scale").name_hint == "scale"
    assert pl.spmd(4).core_num == 4 and not pl.spmd(4).allow_early_resolve
    with pytest.raises(TypeError, match="does not accept 'unroll'"):
        pl.range(8, unroll=4)
    with pytest.raises(ValueError, match="must be the integer 2"):
        pl.split_aiv(4)
    with pytest.raises(TypeError, match="takes 1 arguments by place"):
        pl.spmd(4, 5)


def value(kind, shape=(16, 32), dtype=DataType.FP32):
    types = {pl.Tensor: ir.TensorType, pl.Tile: ir.TileType}
    return kind(expr=ir.Var("x", types[kind](list(shape), dtype)))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda t, x: pl.row_max(t), "pl.row_max: Tile inputs require tmp_tile"),
        (lambda t, x: pl.row_max(x, t), "pl.row_max: Tensor inputs must not pass tmp_tile"),
        (lambda t, x: pl.xor(t, 1), "require an explicit scratch tile"),
        (lambda t, x: pl.matmul(t, t, b_trans=True), "'b_trans' is not supported for Tile operands; .*transpose_view"),
        (lambda t, x: pl.matmul(t, t, out_dtype=DataType.FP16), "out_dtype of tiles is fp32"),
        (lambda t, x: pl.rsqrt(t, high_precision=True), r"'high_precision'.*pl.tile.rsqrt\(tile, tmp\)"),
        (lambda t, x: pl.div(x, 2.0, high_precision=True), "high_precision is for two tensors or two tiles"),
    ],
)
def test_operands_of_one_form_only(call, message):
    with pytest.raises(TypeError, match=message):
        call(value(pl.Tile, (32, 32)), value(pl.Tensor, (32, 32)))


def test_defaults_that_are_spelt_out_change_nothing():
    t, x = value(pl.Tile, (32, 32)), value(pl.Tensor, (32, 32))
    plain = pl.tile.matmul(t, t).unwrap()
    said = pl.matmul(t, t, a_trans=False, c_matrix_nz=False, out_dtype=DataType.FP32).unwrap()
    assert ir.structural_equal(plain, said)
    assert ir.structural_equal(pl.tensor.row_sum(x).unwrap(), pl.row_sum(x, None).unwrap())


def test_padding_of_a_full_window_is_a_warning_at_the_line_that_asks():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pl.slice(value(pl.Tile), [8, 32], [0, 0], pad_value=ir.PadValue.min)
        pl.slice(value(pl.Tile), [8, 32], [0, 0], valid_shape=[8, 8], pad_value=ir.PadValue.min)
    assert [(each.filename, each.category) for each in caught] == [(__file__, UserWarning)]
    assert "pad_value has no effect" in str(caught[0].message) and caller_warning_stacklevel() == 1


def test_annotations_say_what_they_hold():
    kind = pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, pl.TileView()]
    assert (kind.shape, kind.dtype, kind.memory_space) == ([16, 32], pl.FP32, pl.Mem.Vec) and kind.tile_view is not None
    assert pl.Scalar(pl.FP32).dtype == pl.FP32 and kind.memref is None
    with pytest.raises(ValueError, match="annotation-only Tensor"):
        pl.Tensor((64,), pl.FP32).unwrap()
    with pytest.raises(TypeError, match="multiple values for argument 'shape'"):
        pl.Tensor([1], pl.FP32, shape=[2])
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        pl.Tensor([1], pl.FP32, foo=2)

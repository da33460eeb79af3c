"""Gathers, scatters, sorting, generated tiles; numbers against numpy, on both processors."""

import numpy as np
import pypto.language as pl
import pytest
from pypto import codegen, ir
from pypto.ir.op import tensor, tile
from pypto.runtime import RunConfig
from test_pypto_lower import F16, F32, I32, Kernel, tensor_of
from test_pypto_parts import both, load, numbers, run

F32_F16 = pytest.mark.parametrize("dtype", [F32, F16], ids=["f32", "f16"])


@both
@F32_F16
@pytest.mark.parametrize("rows, cols", [(4, 32), (3, 16), (1, 64)])
def test_gather(tmp_path, processor, dtype, rows, cols):
    data = numbers(8, 32, dtype=dtype)
    indices = np.random.default_rng(1).integers(0, data.size, (rows, cols)).astype(np.int32)
    make = lambda k, x, i: k.let(tile.gather(load(k, x), load(k, i)))  # noqa: E731
    out = run(tmp_path, processor, make, data, indices, shape=indices.shape, dtype=dtype)
    np.testing.assert_array_equal(out, data.reshape(-1)[indices])


@both
@F32_F16
@pytest.mark.parametrize("pattern, step, first", [("P0101", 2, 0), ("P1010", 2, 1), ("P0010", 4, 1), ("P1000", 4, 3)])
def test_gather_mask(tmp_path, processor, dtype, pattern, step, first):
    data = numbers(8, 128, dtype=dtype)
    make = lambda k, x: k.let(tile.gather_mask(load(k, x), getattr(ir.MaskPattern, pattern)))  # noqa: E731
    out = run(tmp_path, processor, make, data, shape=(8, 128 // step), dtype=dtype)
    np.testing.assert_array_equal(out, data[:, first::step])


@both
@pytest.mark.parametrize("mode", ["eq", "gt"])
def test_gather_compare_gives_two_tiles(tmp_path, processor, mode):
    data = np.random.default_rng(3).integers(0, 4, (8, 32)).astype(np.float32)
    k = Kernel(x=tensor_of(8, 32), i=tensor_of(8, 32, dtype=I32), n=tensor_of(8, 1, dtype=I32))
    x, i, n = k.params
    t = load(k, x)
    scratch = k.let(tile.create([8, 32], F32))
    both_ = k.let(tile.gather_compare(t, 2.0, scratch, cmp_mode=mode, offset=10, out_cols=32), "both")
    filled = k.let(ir.TupleGetItemExpr(both_, 0), "filled")
    k.store(filled, i)
    k.store(k.let(ir.TupleGetItemExpr(both_, 1), "counts"), n)
    indices, counts = np.zeros((8, 32), np.int32), np.zeros((8, 1), np.int32)
    k.run(tmp_path, data, indices, counts, processor=processor)
    found = [np.flatnonzero(row == 2 if mode == "eq" else row > 2) for row in data]
    assert counts[:, 0].tolist() == [len(each) for each in found]
    for row, each in zip(indices, found, strict=True):
        assert row[: len(each)].tolist() == (each + 10).tolist()


@pl.jit
def rows_above(x: pl.Tensor, limit: pl.Tensor, i: pl.Out[pl.Tensor], n: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        at_least = pl.tensor.read(limit, [0])
        found, counts = pl.tensor.gather(pl.mul(x, 2.0), kvalue=at_least, cmp_mode="gt", offset=5, out_cols=32)
        i = pl.assemble(i, found, [0, 0])
        n = pl.assemble(n, counts, [0, 0])
    return i, n


@both
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rows_of_a_tensor_compared_with_a_number(processor, dtype):
    data = np.random.default_rng(4).integers(0, 6, (16, 32)).astype(dtype)
    indices, counts = np.zeros((16, 32), np.int32), np.zeros((1, 16), np.int32)
    platform = "a5sim" if processor == "a5" else "a2a3sim"
    rows_above(data, np.array([6], dtype), indices, counts, config=RunConfig(platform=platform))
    found = [np.flatnonzero(2 * row > 6) + 5 for row in data]
    assert counts[0].tolist() == [len(each) for each in found]
    for row, each in zip(indices, found, strict=True):
        assert row[: len(each)].tolist() == each.tolist()


def test_rows_of_a_tensor_of_more_axes_are_not_compared():
    with pytest.raises(ValueError, match="a tensor of two axes are compared with kvalue"):
        tensor.gather(ir.Var("x", tensor_of(2, 8, 32), ir.Span.unknown()), kvalue=1.0, out_cols=8)


@both
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("cols", [32, 24])
def test_counting(tmp_path, processor, descending, cols):
    make = lambda k, _: k.let(tile.ci(5, [1, cols], descending=descending))  # noqa: E731
    out = run(tmp_path, processor, make, numbers(1, 8), shape=(1, cols), dtype=I32)
    step = -1 if descending else 1
    assert out[0].tolist() == list(range(5, 5 + step * cols, step))


@both
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("diagonal", [-3, 0, 2])
def test_triangles(tmp_path, processor, upper, diagonal):
    make = lambda k, _: k.let(tile.tri(diagonal, [16, 32], upper=upper))  # noqa: E731
    out = run(tmp_path, processor, make, numbers(1, 8), shape=(16, 32), dtype=I32)
    ones = np.ones((16, 32), np.int32)
    np.testing.assert_array_equal(out, np.triu(ones, diagonal) if upper else np.tril(ones, diagonal))


def sorted_pairs(rows):
    """(value, index bits) pairs of each row, falling."""
    out = np.zeros((rows.shape[0], 2 * rows.shape[1]), np.float32)
    order = np.argsort(-rows, axis=1, kind="stable")
    out[:, 0::2] = np.take_along_axis(rows, order, 1)
    out[:, 1::2] = order.astype(np.uint32).view(np.float32)
    return out


@both
def test_merge_of_runs_of_one_tile(tmp_path, processor):
    values = np.random.default_rng(5).permutation(128).astype(np.float32).reshape(4, 32)
    pairs = np.concatenate([sorted_pairs(values[i : i + 1]) for i in range(4)], axis=1)
    make = lambda k, x: k.let(tile.mrgsort(load(k, x), block_len=64))  # noqa: E731
    out = run(tmp_path, processor, make, pairs, shape=(1, 256))
    np.testing.assert_array_equal(out[0, 0::2], np.sort(values.reshape(-1))[::-1])


@both
@pytest.mark.parametrize("count", [2, 3, 4])
def test_merge_of_tiles(tmp_path, processor, count):
    values = np.random.default_rng(6).permutation(32 * count).astype(np.float32).reshape(count, 32)
    pairs = [sorted_pairs(values[i : i + 1]) for i in range(count)]

    def make(k, *tensors):
        return k.let(tile.mrgsort(*(load(k, x) for x in tensors)))

    out = run(tmp_path, processor, make, *pairs, shape=(1, 64 * count))
    np.testing.assert_array_equal(out[0, 0::2], np.sort(values.reshape(-1))[::-1])


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda k, t: k.let(tile.mrgsort(t)), "mrgsort takes one source and its block_len, or two to four sources"),
        (lambda k, t: k.let(tile.mrgsort(t, t, block_len=64)), "one source and its block_len"),
        (
            lambda k, t: k.builder.eval_stmt(tile.gather_compare(t, 1.0, t, out_cols=8)),
            "tile.gather_compare gives two tiles; assign them",
        ),
        (
            lambda k, t: k.let(tile.gather_compare(t, 1.0, t, cmp_mode="near", out_cols=8), "r"),
            "cmp_mode is eq or gt, not near",
        ),
    ],
)
def test_refused(make, message):
    k = Kernel(x=tensor_of(1, 256))
    make(k, load(k, k.params[0]))
    with pytest.raises(ValueError) as error:
        codegen.PTOCodegen().generate(k.program())
    assert message in str(error.value)

"""Parts of tiles: assemble, extract, slice, transpose, elements; numbers against numpy, on both processors."""

import numpy as np
import pypto.language as pl
import pytest
from pypto import DataType, codegen, ir
from pypto.ir.op import tensor, tile
from pypto.runtime import RunConfig
from test_pypto_lower import F16, F32, I32, SPAN, Kernel, tensor_of

NUMPY = {F32: np.float32, F16: np.float16, I32: np.int32}
both = pytest.mark.parametrize("processor", ["a3", "a5"])
types = pytest.mark.parametrize("dtype", [F32, F16, I32], ids=["f32", "f16", "i32"])


def numbers(*shape, dtype=F32, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * 50).astype(NUMPY[dtype])


def run(path, processor, make, *arrays, shape, dtype=F32, scalars=()):
    """What `make(k, *tensors, *scalars)` stores of its tile, of an output of `shape`."""
    known = {np.dtype(value): key for key, value in NUMPY.items()}
    inputs = {f"x{i}": tensor_of(*array.shape, dtype=known[array.dtype]) for i, array in enumerate(arrays)}
    numbers_ = {f"n{i}": ir.ScalarType(DataType.INDEX) for i in range(len(scalars))}
    k = Kernel(**inputs, z=tensor_of(*shape, dtype=dtype), **numbers_)
    z = k.params[len(arrays)]
    k.store(make(k, *k.params[: len(arrays)], *k.params[len(arrays) + 1 :]), z)
    out = np.zeros(shape, NUMPY[dtype])
    k.run(path, *arrays, out, *scalars, processor=processor)
    return out


def load(k, x, shape=None, **keywords):
    shape = shape or [extent.value for extent in x.type.shape]
    return k.let(tile.load(x, [0, 0], shape, **keywords))


@both
@types
@pytest.mark.parametrize("rows, cols, row, col", [(8, 32, 4, 16), (3, 8, 1, 24), (16, 64, 0, 0)])
def test_assemble(tmp_path, processor, dtype, rows, cols, row, col):
    if dtype == F16:
        cols, col = max(cols, 16), col // 16 * 16
    whole, part = numbers(16, 64, dtype=dtype), numbers(rows, cols, dtype=dtype, seed=1)
    make = lambda k, x, y: k.let(tile.assemble(load(k, x), load(k, y), [row, col]))  # noqa: E731
    expected = whole.copy()
    expected[row : row + rows, col : col + cols] = part
    np.testing.assert_array_equal(run(tmp_path, processor, make, whole, part, shape=whole.shape, dtype=dtype), expected)


@both
def test_assemble_leaves_what_is_read_later(tmp_path, processor):
    def make(k, x, y):
        a = load(k, x)
        return k.let(tile.add(k.let(tile.assemble(a, load(k, y), [0, 0])), a))

    whole, part = numbers(8, 32), numbers(4, 32, seed=1)
    expected = whole.copy()
    expected[:4] = part
    np.testing.assert_array_equal(run(tmp_path, processor, make, whole, part, shape=(8, 32)), expected + whole)


@both
def test_a_loop_assembles(tmp_path, processor):
    def make(k, x):
        ones = k.let(tile.full([16, 32], F32, 1.0))
        with k.builder.for_loop("i", 0, 4, 1) as loop:
            acc = loop.iter_arg("acc", ones)
            row = ir.Mul(loop.loop_var, 4, DataType.INDEX, SPAN)
            part = k.let(tile.muls(k.let(tile.load(x, [row, 0], [2, 32])), 2.0))
            k.builder.yield_stmt([k.let(tile.assemble(acc, part, [row, 0]))])
            loop.return_var("acc")
        return loop.output()

    data = numbers(16, 32)
    expected = np.ones_like(data)
    for row in range(0, 16, 4):
        expected[row : row + 2] = data[row : row + 2] * 2
    np.testing.assert_array_equal(run(tmp_path, processor, make, data, shape=(16, 32)), expected)


@both
@types
@pytest.mark.parametrize("rows, cols", [(16, 32), (32, 16), (48, 64)])
def test_transpose(tmp_path, processor, dtype, rows, cols):
    data = numbers(rows, cols, dtype=dtype)
    make = lambda k, x: k.let(tile.transpose(load(k, x), 0, 1))  # noqa: E731
    np.testing.assert_array_equal(run(tmp_path, processor, make, data, shape=(cols, rows), dtype=dtype), data.T)


@both
@types
@pytest.mark.parametrize(
    "shape, axes",
    [
        ((4, 16, 32), (1, 2)),
        ((4, 16, 32), (0, 1)),
        ((16, 3, 32), (-1, 0)),
        ((2, 3, 16, 16), (0, 2)),
        ((2, 16, 3, 32), (1, 3)),
        ((2, 3, 32, 16), (2, -1)),
        ((16, 3, 2, 32), (0, 3)),
    ],
)
def test_transpose_of_more_axes(tmp_path, processor, dtype, shape, axes):
    data = numbers(*shape, dtype=dtype)
    expected, begin = np.swapaxes(data, *axes), [0] * len(shape)
    k = Kernel(x=tensor_of(*shape, dtype=dtype), z=tensor_of(*expected.shape, dtype=dtype))
    turned = k.let(tile.transpose(k.let(tile.load(k.params[0], begin, [*shape])), *axes))
    k.store(turned, k.params[1], begin)
    out = np.zeros(expected.shape, NUMPY[dtype])
    k.run(tmp_path, data, out, processor=processor)
    np.testing.assert_array_equal(out, expected)


@both
@pytest.mark.parametrize("row, col", [(0, 0), (16, 32)])
def test_extract_of_operands(tmp_path, processor, row, col):
    Mem = ir.MemorySpace

    def make(k, x, y):
        a, b = load(k, x, target_memory=Mem.Mat), load(k, y, target_memory=Mem.Mat)
        left = k.let(tile.extract(a, row, col, [16, 32], target_memory=Mem.Left))
        right = k.let(tile.extract(b, col, row, [32, 16], target_memory=Mem.Right))
        return k.let(tile.matmul(left, right))

    a, b = numbers(32, 64, dtype=F16) / np.float16(50), numbers(64, 32, dtype=F16, seed=1) / np.float16(50)
    left, right = a[row : row + 16, col : col + 32], b[col : col + 32, row : row + 16]
    expected = left.astype(np.float64) @ right.astype(np.float64)
    out = run(tmp_path, processor, make, a, b, shape=(16, 16))
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-3)


@both
@types
def test_elements_of_tiles(tmp_path, processor, dtype):
    def make(k, x, row):
        t = load(k, x)
        last = k.let(tile.read(t, [7, 31]), "last")
        t = k.let(tile.write(t, [row, 3], last))
        return k.let(tile.write(t, [0, 0], 5 if dtype == I32 else 5.0))

    data = numbers(8, 32, dtype=dtype)
    expected = data.copy()
    expected[4, 3], expected[0, 0] = data[7, 31], 5
    out = run(tmp_path, processor, make, data, shape=(8, 32), dtype=dtype, scalars=(4,))
    np.testing.assert_array_equal(out, expected)


@both
def test_elements_of_tensors(tmp_path, processor):
    k = Kernel(x=tensor_of(4, 8, dtype=I32), z=tensor_of(4, 8, dtype=I32), n=ir.ScalarType(DataType.INDEX))
    x, z, n = k.params
    with k.builder.for_loop("i", 0, n, 1) as loop:
        element = k.let(tensor.read(x, [loop.loop_var, 2]), "e")
        k.builder.eval_stmt(tensor.write(z, [loop.loop_var, 5], element))
    data, out = numbers(4, 8, dtype=I32), np.zeros((4, 8), np.int32)
    k.run(tmp_path, data, out, 3, processor=processor)
    expected = np.zeros_like(out)
    expected[:3, 5] = data[:3, 2]
    np.testing.assert_array_equal(out, expected)


def refused(make, **params):
    k = Kernel(**(params or {"x": tensor_of(8, 32)}))
    make(k, *k.params)
    with pytest.raises(ValueError) as error:
        codegen.PTOCodegen().generate(k.program())
    return str(error.value)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda k, x: k.let(tile.transpose(load(k, x), 0, 0)), "two axes of a tile in Vec"),
        (
            lambda k, x: k.let(tile.assemble(load(k, x), load(k, x, [8, 8]), [0, 0], atomic=ir.AtomicType.Add)),
            "assemble adds to tensors only",
        ),
        (lambda k, x: k.let(tile.slice(load(k, x), [4, 8], [0, 0], drop_dims=[0])), "without drop_dims"),
        (lambda k, x: k.let(tile.read(load(k, x, [16, 32], target_memory=ir.MemorySpace.Mat), [0, 0])), "in boxes"),
    ],
)
def test_refused(make, message):
    assert message in refused(make)


@both
@pytest.mark.parametrize("count", [1, 3, 4])
@pytest.mark.parametrize("kept", [False, True])
def test_a_part_is_valid_as_far_as_a_run_says(tmp_path, processor, count, kept):
    """It is computed in its place, or moved there where it is read again."""

    def make(k, x, y, n):
        part = k.let(tile.muls(k.let(tile.load(y, [0, 0], [4, 32], valid_shape=[n, 32])), 2.0))
        whole = k.let(tile.assemble(load(k, x), part, [2, 0]))
        return k.let(tile.assemble(whole, part, [4, 0])) if kept else whole

    whole, part = numbers(8, 32), numbers(4, 32, seed=1)
    expected = whole.copy()
    for first in (2, 4) if kept else (2,):
        expected[first : first + count] = 2 * part[:count]
    out = run(tmp_path, processor, make, whole, part, shape=(8, 32), scalars=[count])
    np.testing.assert_array_equal(out, expected)


@both
@pytest.mark.parametrize("rows, valid", [(16, 16), (64, 64), (64, 41)])
@types
def test_columns_are_computed_with(tmp_path, processor, dtype, rows, valid):
    def make(k, x, y):
        a, b = load(k, x, valid_shape=[valid, 1]), load(k, y, valid_shape=[valid, 1])
        return k.let(tile.maximum(k.let(tile.sub(a, b)), k.let(tile.muls(b, 2))))

    left, right = numbers(rows, 1, dtype=dtype), numbers(rows, 1, dtype=dtype, seed=1)
    out = run(tmp_path, processor, make, left, right, shape=(rows, 1), dtype=dtype)
    np.testing.assert_array_equal(out[:valid], np.maximum(left - right, right * NUMPY[dtype](2))[:valid])
    assert not out[valid:].any()


@both
def test_columns_that_are_valid_in_part_at_run_time_are_refused(tmp_path, processor):
    def make(k, x, n):
        return k.let(tile.exp(load(k, x, valid_shape=[n, 1])))

    with pytest.raises(Exception, match="expects blayout=row_major on every tile"):
        run(tmp_path, processor, make, numbers(16, 1), shape=(16, 1), scalars=[5])


@pl.jit
def assembled(x: pl.Tensor, y: pl.Tensor, whole: pl.Out[pl.Tensor], part: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        first = pl.mul(x, 2.0)
        second = pl.assemble(first, y, [4, 16])
        whole = pl.assemble(whole, pl.add(second, first), [0, 0])
        part = pl.assemble(part, second[:, 16:32], [0, 0])
    return whole, part


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_tensors_are_assembled_into_computed_ones(platform):
    x, y = numbers(16, 64), numbers(8, 16, seed=1)
    whole, part = np.zeros((16, 64), np.float32), np.zeros((16, 16), np.float32)
    assembled(x, y, whole, part, config=RunConfig(platform=platform))
    second = x * 2
    second[4:12, 16:32] = y
    np.testing.assert_array_equal(whole, second + x * 2)
    np.testing.assert_array_equal(part, second[:, 16:32])


@pl.jit
def added_into(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.assemble(pl.mul(x, 2.0), x, [0, 0], atomic=pl.AtomicType.Add)
    return y


def test_computed_tensors_are_not_added_into():
    with pytest.raises(Exception, match="assemble adds to tensors only"):
        added_into(numbers(16, 64), np.zeros((16, 64), np.float32))

"""Tensors repeated along axes, gathers along any axis, scatters of 16 bits; numbers against numpy."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import InvalidOperationError, OperandError
from pypto.runtime import RunConfig
from test_pypto_indexed import put

platforms = pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])


def numbers(shape, dtype=np.float32, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * 50).astype(dtype)


@pl.jit
def repeated(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y = pl.expand_clone(x, y)
    return y


@pl.jit
def repeated_inside(x: pl.Tensor, z: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.add(pl.expand_clone(x, pl.add(z, z)), z)
    return y


@platforms
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.int16])
@pytest.mark.parametrize(
    "source, target",
    [
        ((4, 16, 32), (4, 16, 32)),
        ((1, 16, 32), (4, 16, 32)),
        ((4, 1, 32), (4, 16, 32)),
        ((4, 16, 1), (4, 16, 32)),
        ((1, 1, 32), (2, 3, 32)),
        ((1, 5, 1), (3, 5, 16)),
        ((2, 1, 3, 16), (2, 2, 3, 16)),
        ((1, 48), (7, 48)),
        ((7, 1), (7, 48)),
    ],
)
def test_repeated_along_axes(platform, dtype, source, target):
    x, y = numbers(source, dtype), np.zeros(target, dtype)
    repeated(x, y, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y, np.broadcast_to(x, target))


@platforms
def test_repeated_for_other_operations(platform):
    x, z, y = numbers((1, 32)), numbers((8, 32), seed=1), np.zeros((8, 32), np.float32)
    repeated_inside(x, z, y, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y, x + z)


def test_axes_that_cannot_be_repeated():
    with pytest.raises(InvalidOperationError, match=r"repeats axes of one element, not 2 as 4 .*py:\d+:\d+"):
        repeated(numbers((2, 32)), np.zeros((4, 32), np.float32))
    with pytest.raises(InvalidOperationError, match=r"takes tensors of as many axes .*py:\d+:\d+"):
        repeated(numbers((1, 32)), np.zeros((2, 4, 32), np.float32))


@pl.jit
def across(x: pl.Tensor, i: pl.Tensor, y: pl.Out[pl.Tensor], dim: pl.Scalar[pl.INDEX]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.gather(x, dim=dim, index=i)
    return y


@platforms
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize(
    "source, index, dim",
    [
        ((2, 8, 8), (2, 3, 8), 1),
        ((8, 2, 8), (3, 2, 8), -3),
        ((5, 16), (9, 16), 0),
        ((5, 16), (2, 8), -2),
        ((3, 2, 4, 8), (2, 2, 3, 8), 1),
    ],
)
def test_elements_along_other_axes(platform, dtype, source, index, dim):
    x = numbers(source, dtype)
    i = np.random.default_rng(1).integers(0, source[dim], index).astype(np.int32)
    y = np.zeros(index, dtype)
    across(x, i, y, dim, config=RunConfig(platform=platform))
    part = x[tuple(slice(None) if a == dim % x.ndim else slice(n) for a, n in enumerate(index))]
    np.testing.assert_array_equal(y, np.take_along_axis(part, i.astype(np.int64), dim % x.ndim))


def test_axes_that_are_not_there():
    x, i = numbers((4, 8)), np.zeros((4, 8), np.int32)
    with pytest.raises(InvalidOperationError, match=r"needs a constant dim, -2 to 1 .*py:\d+:\d+"):
        across(x, i, np.zeros_like(x), 2)
    with pytest.raises(InvalidOperationError, match=r"an index no greater than its input, but along dim"):
        across(x, np.zeros((4, 16), np.int32), np.zeros((4, 16), np.float32), 0)


@platforms
@pytest.mark.parametrize("index", [np.int16, np.int32])
@pytest.mark.parametrize("dtype", [np.float16, np.int16, np.float32])
def test_elements_of_16_bits_are_put_into_rows(platform, dtype, index):
    rng = np.random.default_rng(3)
    x, v = numbers((8, 64), dtype), numbers((8, 32), dtype, 1)
    i = np.stack([rng.permutation(64)[:32] for _ in range(8)]).astype(index)
    y, expected = np.zeros_like(x), x.copy()
    put(x, i, v, y, config=RunConfig(platform=platform))
    np.put_along_axis(expected, i.astype(np.int64), v, 1)
    np.testing.assert_array_equal(y, expected)


@pl.jit
def less(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.tensor.subs(x, pl.const(2.0, pl.FP32))
    return y


@pl.jit
def less_a_half(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.tensor.subs(x, 0.5)
    return y


@platforms
@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_whole_numbers_beside_integers(platform, dtype):
    x = numbers((8, 64), dtype)
    y = np.zeros_like(x)
    less(x, y, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y, x - dtype(2))
    with pytest.raises(OperandError, match="beside"):
        less_a_half(x, y)


@pl.jit
def narrowed(a: pl.Tensor, b: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y = pl.assemble(y, pl.matmul(a, b, out_dtype=pl.FP32), [0, 0])
    return y


@platforms
@pytest.mark.parametrize("m, n", [(32, 48), (256, 512)])
def test_a_store_narrows_a_product(platform, m, n):
    a, b = (np.random.default_rng(4).integers(-3, 4, (m, 64))).astype(np.float16), numbers((64, n), np.float16) / 64
    y = np.zeros((m, n), np.float16)
    narrowed(a, b.astype(np.float16), y, config=RunConfig(platform=platform))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3)


def test_a_store_does_not_make_integers_of_a_product():
    a = np.ones((32, 32), np.float16)
    with pytest.raises(InvalidOperationError, match=r"a product of FP32 cannot be stored to a tensor of INT32"):
        narrowed(a, a, np.zeros((32, 32), np.int32))

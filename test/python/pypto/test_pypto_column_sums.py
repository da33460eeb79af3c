"""Sums of columns: row by row, and with scratch memory by halves. Bits against numpy's, rounded at every step."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.runtime import RunConfig
from random_numbers import numbers

TYPES = [np.float16, np.float32, np.int32]


@pl.jit
def in_order(a: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        rows, columns = a.shape
        pl.store(pl.tile.col_sum(pl.load(a, [0, 0], [rows, columns])), [0, 0], out)
    return out


@pl.jit
def by_halves(a: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        rows, columns = a.shape
        t = pl.load(a, [0, 0], [rows, columns])
        scratch = pl.tile.create([rows // 2 + 1, columns], dtype=a.dtype, target_memory=pl.Mem.Vec)
        pl.store(pl.tile.col_sum(t, scratch), [0, 0], out)
    return out


@pl.jit
def of_counted_rows(a: pl.Tensor, count: pl.Tensor, out: pl.Out[pl.Tensor]):
    """Of as many rows as a run says."""
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.load(a, [0, 0], [32, 64], valid_shapes=[pl.read(count, [0]), 64])
        scratch = pl.tile.create([32, 64], dtype=pl.FP16, target_memory=pl.Mem.Vec)
        pl.store(pl.tile.col_sum(t, scratch), [0, 0], out)
    return out


def added(a):
    total = a[0]
    for row in a[1:]:
        total = total + row
    return total[None]


def halved(a):
    """Rows 2 i and 2 i + 1, the last of an odd number with the first two."""
    while len(a) > 1:
        sums = a[0 : len(a) - 1 : 2] + a[1::2]
        if len(a) % 2:
            sums[0] = sums[0] + a[-1]
        a = sums
    return a


def drawn(rows, dtype):
    return np.round(numbers(rows, 64, seed=rows) * 100) if dtype == np.int32 else numbers(rows, 64, seed=rows)


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6, 7, 11, 31, 32, 33])
def test_order_of_sums(platform, dtype, rows):
    a = drawn(rows, dtype).astype(dtype)
    for kernel, expected in ((in_order, added), (by_halves, halved)):
        out = np.zeros((1, 64), dtype)
        kernel(a, out, config=RunConfig(platform=platform))
        np.testing.assert_array_equal(out, expected(a))


def test_the_orders_differ():
    a = drawn(33, np.float16).astype(np.float16)
    assert (added(a) != halved(a)).any()


@pytest.mark.parametrize("count", [1, 6, 32])
def test_rows_that_a_run_counts_are_added_in_order(count):
    a, out = drawn(32, np.float16).astype(np.float16), np.zeros((1, 64), np.float16)
    of_counted_rows(a, np.array([count], np.int32), out)
    np.testing.assert_array_equal(out, added(a[:count]))


def test_nothing_races():
    a, out = drawn(33, np.float16).astype(np.float16), np.zeros((1, 64), np.float16)
    by_halves(a, out, config=RunConfig(mode="checked"))
    np.testing.assert_array_equal(out, halved(a))

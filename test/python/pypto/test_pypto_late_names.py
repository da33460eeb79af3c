"""Names that a loop binds first and that are read behind it."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.runtime import RunConfig


@pl.jit
def last_tile(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(4):
            at = i * 16
            t = pl.add(pl.load(x, [at, 0], [16, 64]), 1.0)
        pl.store(pl.add(t, pl.load(x, [at, 0], [16, 64])), [0, 0], y)
    return y


@pl.jit
def last_tensor(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(4):
            t = pl.add(x[i * 16 : i * 16 + 16, :], 1.0)
        y[:] = pl.add(t, x[48:64, :])
    return y


@pytest.mark.parametrize("kernel", [last_tile, last_tensor])
@pytest.mark.parametrize("mode", ["functional", "checked"])
def test_a_name_of_a_loop_is_what_its_last_turn_bound(kernel, mode):
    x, y = np.random.default_rng(1).random((64, 64), np.float32), np.zeros((16, 64), np.float32)
    kernel(x, y, config=RunConfig(mode=mode))
    np.testing.assert_allclose(y, 2 * x[48:] + 1, rtol=1e-6)


def test_a_name_that_is_bound_again_before_it_is_read_is_not_carried():
    text = "@pl.function\ndef f(n: pl.Scalar[pl.INT64]):\n    for i in pl.range(4):\n        k = n + i\n"
    text += "    {}\n    return k\n"
    assert len(pl.parse(text.format("k = n * 2")).body.stmts[0].iter_args) == 0
    assert len(pl.parse(text.format("j = n * 2")).body.stmts[0].iter_args) == 1

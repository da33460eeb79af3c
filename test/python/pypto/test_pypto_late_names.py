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


@pytest.mark.parametrize(
    "lines, is_carried",
    [
        ("k = n * 2", False),
        ("j = n * 2", True),
        ("k: pl.Scalar[pl.INT64] = k + 1", True),
        ("for j in pl.range(2):\n        k = n + j\n        m = k\n    k = n", False),
        ("for j in pl.range(2):\n        k = n + j", True),  # it may have no turn
        ("for j in pl.range(k):\n        k = n + j\n    k = n", True),
        ("for j in pl.range(2):\n        m = k\n        k = n\n    k = n", True),
        ("if n > 2:\n        k = n\n    else:\n        k = n + 1", False),
        ("if n > 2:\n        k = n", True),
        ("if n > 2:\n        m = n\n    else:\n        m = k\n    k = n", True),
    ],
)
def test_a_name_that_is_bound_again_before_it_is_read_is_not_carried(lines, is_carried):
    text = "@pl.function\ndef f(n: pl.Scalar[pl.INT64]):\n    for i in pl.range(4):\n        k = n + i\n"
    function = pl.parse(f"{text}    {lines}\n    return k\n")
    assert len(function.body.stmts[0].iter_args) == is_carried


@pl.jit
def two_sums(a: pl.Tensor, b: pl.Tensor, y: pl.Out[pl.Tensor], z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        acc = pl.matmul(a[:, 0:64], b[0:64, :], out_dtype=pl.FP32)
        for k in pl.range(1, 4):
            left = pl.slice(a, [16, 64], [0, k * 64])
            right = pl.slice(b, [64, 64], [k * 64, 0])
            acc = pl.matmul_acc(acc, left, right)
        y = pl.assemble(y, acc, [0, 0])
        acc = pl.matmul(a[:, 64:128], b[0:64, :], out_dtype=pl.FP32)
        for k in pl.range(2, 4):
            left = pl.slice(a, [16, 64], [0, k * 64])
            right = pl.slice(b, [64, 64], [k * 64, 0])
            acc = pl.matmul_acc(acc, left, right)
        z = pl.assemble(z, acc, [0, 0])
    return y, z


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_names_that_two_loops_bind(platform):
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((16, 256), (256, 64)))
    y, z = np.zeros((16, 64), np.float32), np.zeros((16, 64), np.float32)
    two_sums(a, b, y, z, config=RunConfig(platform=platform))
    wide = a.astype(np.float64), b.astype(np.float64)
    np.testing.assert_array_equal(y, wide[0] @ wide[1])
    np.testing.assert_array_equal(z, wide[0][:, 64:128] @ wide[1][:64] + wide[0][:, 128:] @ wide[1][128:])

"""Kernels whose branches hold more tiles than a core's memory: the arms share bytes. Against numpy."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.runtime import RunConfig, run


@pl.program
class Arms:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        x: pl.Tensor[[64, 128], pl.FP32],
        y: pl.Tensor[[64, 128], pl.FP32],
        out: pl.Out[pl.Tensor[[64, 128], pl.FP32]],
        which: pl.Scalar[pl.INDEX],
    ) -> pl.Tensor[[64, 128], pl.FP32]:
        a = pl.load(x, [0, 0], [64, 128])
        b = pl.load(y, [0, 0], [64, 128])
        if which == 1:
            c = pl.add(a, b)
            d = pl.mul(a, c)
            e = pl.sub(d, c)
            out = pl.store(pl.maximum(e, b), [0, 0], out)
        else:
            f = pl.sub(a, b)
            g = pl.mul(b, f)
            h = pl.add(g, f)
            out = pl.store(pl.minimum(h, a), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[64, 128], pl.FP32],
        y: pl.Tensor[[64, 128], pl.FP32],
        count: pl.Tensor[[2], pl.INT32],
        first: pl.Out[pl.Tensor[[64, 128], pl.FP32]],
        second: pl.Out[pl.Tensor[[64, 128], pl.FP32]],
    ):
        a = pl.tensor.read(count, [0])
        b = pl.tensor.read(count, [1])
        first = self.kernel(x, y, first, a)
        second = self.kernel(x, y, second, b)
        return first, second


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_the_arms_of_a_branch_share_bytes(platform):
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((64, 128)).astype(np.float32) for _ in range(2))
    first, second = np.zeros_like(x), np.zeros_like(x)
    run(Arms, x, y, np.array([1, 0], np.int32), first, second, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(first, np.maximum(x * (x + y) - (x + y), y))
    np.testing.assert_array_equal(second, np.minimum(y * (x - y) + (x - y), x))

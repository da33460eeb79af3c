"""Arrays of numbers in kernels: written and read at indices known at run time, through branches and loops."""

import numpy as np
import pypto.language as pl
import pytest
from pypto import ir
from pypto.language.parser.diagnostics import PlacedError
from pypto.runtime import RunConfig, run


@pl.program
class Sorted:
    """Writes the rows of x in the order of their keys: an insertion sort of row numbers in an array."""

    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        keys: pl.Tensor[[1, 16], pl.INT32],
        x: pl.Tensor[[16, 32], pl.FP32],
        out: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        held = pl.load(keys, [0, 0], [1, 16])
        order = pl.array.create(16, pl.INT32)
        for i in pl.range(16):
            place = pl.const(0, pl.INT32)
            for j in pl.range(16):
                a: pl.Scalar[pl.INT32] = pl.tile.read(held, [0, j])
                b: pl.Scalar[pl.INT32] = pl.tile.read(held, [0, i])
                if a < b:
                    place = place + 1
            order[pl.cast(place, pl.INDEX)] = pl.cast(i, pl.INT32)
        for k in pl.range(16):
            row = pl.cast(order[k], pl.INDEX)
            out = pl.store(pl.load(x, [row, 0], [1, 32]), [k, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        keys: pl.Tensor[[1, 16], pl.INT32],
        x: pl.Tensor[[16, 32], pl.FP32],
        out: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        out = self.kernel(keys, x, out)
        return out


@pl.program
class Chosen:
    """out[s] = x, with s from an array that one arm writes twice, the other one once, and a loop adds to."""

    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        c: pl.Tensor[[1, 8], pl.INT32],
        x: pl.Tensor[[1, 32], pl.FP32],
        out: pl.InOut[pl.Tensor[[32, 32], pl.FP32]],
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        first: pl.Scalar[pl.INT32] = pl.tile.read(pl.load(c, [0, 0], [1, 8]), [0, 0])
        tile = pl.load(x, [0, 0], [1, 32])
        some = pl.array.create(5, pl.INT32)
        if first > 0:
            some[0] = first
            some[1] = some[0] + some[4]
        else:
            some[1] = 3
        for i in pl.range(4):
            some[1] = some[1] + 2
        return pl.store(tile, [pl.cast(some[1], pl.INDEX), 0], out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        c: pl.Tensor[[1, 8], pl.INT32],
        x: pl.Tensor[[1, 32], pl.FP32],
        out: pl.InOut[pl.Tensor[[32, 32], pl.FP32]],
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        out = self.kernel(c, x, out)
        return out


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_rows_in_the_order_of_their_keys(platform):
    rng = np.random.default_rng(0)
    keys, x = rng.permutation(16).astype(np.int32)[None], rng.standard_normal((16, 32)).astype(np.float32)
    out = np.zeros_like(x)
    run(Sorted, keys, x, out, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(out, x[np.argsort(keys[0])])


@pytest.mark.parametrize("first, row", [(7, 15), (0, 11)])
def test_both_arms_write_one_array(first, row):
    x, out = np.arange(32, dtype=np.float32)[None], np.zeros((32, 32), np.float32)
    run(Chosen, np.full((1, 8), first, np.int32), x, out)
    expected = np.zeros_like(out)
    expected[row] = x
    np.testing.assert_array_equal(out, expected)


TEXT = """
import pypto.language as pl
@pl.function
def kernel(x: pl.Tensor[[8, 32], pl.FP32], z: pl.Tensor[[8, 32], pl.FP32], n: pl.Scalar[pl.INDEX]):
    some = pl.array.create({extent}, pl.{dtype})
    some[{index}] = 1
    pl.store(pl.load(x, [0, 0], [8, 32]), [0, 0], z)
"""


@pytest.mark.parametrize(
    "extent, dtype, index, said",
    [
        ("4", "INT32", "4", "the array has no element 4; it has 4"),
        ("4", "INT32", "-1", "the array has no element -1; it has 4"),
        ("4", "INT64", "0", "arrays of INT64 are not lowered yet inside a kernel"),
        ("100000", "INT32", "0", "an array of a kernel has 1 to 4096 elements"),
        ("n", "INT32", "0", "an array of a kernel has 1 to 4096 elements"),
    ],
)
def test_what_arrays_cannot_be(extent, dtype, index, said):
    x = np.zeros((8, 32), np.float32)
    with pytest.raises(PlacedError, match=said) as caught:
        run(ir.Program([pl.parse(TEXT.format(extent=extent, dtype=dtype, index=index))], "P"), x, x.copy(), 4)
    assert caught.value.span["line"] > 0

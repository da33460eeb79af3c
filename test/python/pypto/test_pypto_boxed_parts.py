"""Parts of tiles in Mat and Acc, which are other names of their bytes; numbers against numpy, on both processors."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import InvalidOperationError
from pypto.runtime import RunConfig, run

platforms = pytest.mark.parametrize("platform", ["a2a3", "a5"])
TYPES = {np.float16: pl.FP16, np.float32: pl.FP32}


def numbers(shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def halves(dtype, m, k, n):
    """a @ b, whose operand a is one tile in Mat of which each step of K takes a part."""
    Mat, Left, Right = pl.MemorySpace.Mat, pl.MemorySpace.Left, pl.MemorySpace.Right

    @pl.program
    class Halves:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            self,
            a: pl.Tensor[[m, 2 * k], dtype],
            b: pl.Tensor[[2 * k, n], dtype],
            y: pl.Out[pl.Tensor[[m, n], pl.FP32]],
        ) -> pl.Tensor[[m, n], pl.FP32]:
            both = pl.load(a, [0, 0], [m, 2 * k], target_memory=Mat)
            first = pl.move(pl.slice(both, [m, k], [0, 0]), target_memory=Left)
            second = pl.move(pl.slice(both, [m, k], [0, k]), target_memory=Left)
            above = pl.move(pl.load(b, [0, 0], [k, n], target_memory=Mat), target_memory=Right)
            below = pl.move(pl.load(b, [k, 0], [k, n], target_memory=Mat), target_memory=Right)
            acc = pl.matmul_acc(pl.matmul(first, above), second, below)
            return pl.store(acc, [0, 0], y)

        @pl.function(type=pl.FunctionType.Orchestration)
        def main(
            self,
            a: pl.Tensor[[m, 2 * k], dtype],
            b: pl.Tensor[[2 * k, n], dtype],
            y: pl.Out[pl.Tensor[[m, n], pl.FP32]],
        ) -> pl.Tensor[[m, n], pl.FP32]:
            return self.kernel(a, b, y)

    return Halves


@platforms
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("m, k, n", [(32, 64, 48), (16, 16, 16)])
def test_steps_of_k_are_parts_of_a_tile_in_mat(platform, dtype, m, k, n):
    a, b, y = numbers((m, 2 * k), dtype), numbers((2 * k, n), dtype, 1), np.zeros((m, n), np.float32)
    run(halves(TYPES[dtype], m, k, n), a, b, y, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y, a.astype(np.float64) @ b.astype(np.float64))


def window(rows, columns, row, column):
    """A window of a product of 32 x 64."""
    Mat = pl.MemorySpace.Mat

    @pl.program
    class Window:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            self,
            a: pl.Tensor[[32, 32], pl.FP16],
            b: pl.Tensor[[32, 64], pl.FP16],
            y: pl.Out[pl.Tensor[[rows, columns], pl.FP32]],
        ) -> pl.Tensor[[rows, columns], pl.FP32]:
            left = pl.load(a, [0, 0], [32, 32], target_memory=Mat)
            product = pl.matmul(left, pl.load(b, [0, 0], [32, 64], target_memory=Mat))
            part = pl.tile.slice(product, [rows, columns], [row, column])
            return pl.store(part, [0, 0], y)

        @pl.function(type=pl.FunctionType.Orchestration)
        def main(
            self,
            a: pl.Tensor[[32, 32], pl.FP16],
            b: pl.Tensor[[32, 64], pl.FP16],
            y: pl.Out[pl.Tensor[[rows, columns], pl.FP32]],
        ) -> pl.Tensor[[rows, columns], pl.FP32]:
            return self.kernel(a, b, y)

    return Window


@platforms
@pytest.mark.parametrize("part", [(32, 64, 0, 0), (20, 64, 0, 0), (32, 16, 0, 16), (7, 32, 0, 32), (16, 48, 0, 0)])
def test_windows_of_a_product(platform, part):
    rows, columns, row, column = part
    a, b = numbers((32, 32), np.float16), numbers((32, 64), np.float16, 1)
    y = np.zeros((rows, columns), np.float32)
    run(window(*part), a, b, y, config=RunConfig(platform=platform))
    product = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(y, product[row : row + rows, column : column + columns])


def test_windows_of_a_product_that_begin_below_its_first_row():
    with pytest.raises(
        InvalidOperationError, match=r"two axes and constant extents, from its first row on .*py:\d+:\d+"
    ):
        run(window(16, 64, 16, 0))


SUMS = """
import pypto.language as pl
@pl.program
class Sums:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[16, 128], pl.FP32], b: pl.Tensor[[128, 96], pl.FP32],
               c: pl.Out[pl.Tensor[[16, 96], pl.FP32]]) -> pl.Tensor[[16, 96], pl.FP32]:
        acc = pl.tile.create([16, 96], pl.FP32, target_memory=pl.Mem.Acc)
        for t in pl.range({begin}, {end}, {step}):
            for k in pl.range(0, 128, 64):
                left = pl.load(a, [0, k], [16, 64], target_memory=pl.Mem.Mat)
                right = pl.load(b, [k, {column}], [64, 32], target_memory=pl.Mem.Mat)
                part = pl.tile.slice(acc, [16, 32], [0, {column}])
                part = pl.matmul_acc(part, pl.move(left, target_memory=pl.Mem.Left),
                                     pl.move(right, target_memory=pl.Mem.Right), init_cond=(k == 0))
        return pl.store(acc, [0, 0], c)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 128], pl.FP32], b: pl.Tensor[[128, 96], pl.FP32],
             c: pl.Out[pl.Tensor[[16, 96], pl.FP32]]) -> pl.Tensor[[16, 96], pl.FP32]:
        return self.kernel(a, b, c)
"""


@platforms
@pytest.mark.parametrize(
    "begin, end, step, column",
    [(0, 3, 1, "t * 32"), (0, 96, 32, "t"), (0, 3, 1, "64 - t * 32"), (1, 4, 1, "t * 32 - 32")],
)
def test_sums_in_parts_of_acc_at_computed_columns(platform, begin, end, step, column):
    program = pl.parse_program(SUMS.format(begin=begin, end=end, step=step, column=column))
    a, b, c = numbers((16, 128), np.float32), numbers((128, 96), np.float32, 1), np.zeros((16, 96), np.float32)
    run(program, a, b, c, config=RunConfig(platform=platform))
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("begin, end, column", [(0, 3, "t * 8"), (0, 4, "t * 32"), (0, 3, "t * 32 - 32")])
def test_parts_of_acc_that_may_begin_inside_of_a_box_or_end_outside(begin, end, column):
    program = pl.parse_program(SUMS.format(begin=begin, end=end, step=1, column=column))
    a, b, c = numbers((16, 128), np.float32), numbers((128, 96), np.float32, 1), np.zeros((16, 96), np.float32)
    with pytest.raises(InvalidOperationError, match="begins at a multiple of 16 inside of it, and whether this one"):
        run(program, a, b, c)


ODD = """
import pypto.language as pl
@pl.program
class Odd:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[16, 64], pl.{dtype}], b: pl.Tensor[[64, 16], pl.{dtype}],
               c: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        left = pl.load(a, [0, 0], [16, 64], valid_shape=[{rows}, {k}], target_memory=pl.Mem.Mat)
        right = pl.load(b, [0, 0], [64, 16], target_memory=pl.Mem.Mat)
        made = pl.matmul(pl.move(left, target_memory=pl.Mem.Left), pl.move(right, target_memory=pl.Mem.Right))
        return pl.store(made, [0, 0], c)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.{dtype}], b: pl.Tensor[[64, 16], pl.{dtype}],
             c: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        return self.kernel(a, b, c)
"""


@platforms
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("rows, k", [(16, 63), (15, 33), (7, 1), (16, 64)])
def test_a_product_sums_over_the_valid_columns_of_its_left_operand(platform, dtype, rows, k):
    """What is not valid of the left operand is NaN in memory; of the right one all rows are valid."""
    a, b, c = numbers((16, 64), dtype), numbers((64, 16), dtype, 1), np.zeros((16, 16), np.float32)
    a[:, k:] = np.nan
    program = pl.parse_program(ODD.format(dtype="FP16" if dtype == np.float16 else "FP32", rows=rows, k=k))
    run(program, a, b, c, config=RunConfig(platform=platform))
    expected = a[:rows, :k].astype(np.float64) @ b[:k].astype(np.float64)
    np.testing.assert_allclose(c[:rows], expected, rtol=1e-4, atol=1e-4)
    assert not c[rows:].any()

"""Queues between the cores of a block in functions around an entry, which calls them as one task."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import ParserSyntaxError
from pypto.runtime import RunConfig, run

D = 32
SLOT = D * D * 4


@pl.function(type=pl.FunctionType.AIV, attrs={"dual_aiv_dispatch": True})
def adds(a: pl.Tensor[[D, D], pl.FP32], b: pl.Tensor[[D, D], pl.FP32], y: pl.Out[pl.Tensor[[D, D], pl.FP32]]):
    there = pl.import_peer_buffer(name="sums", peer_func="multiplies")
    pl.aiv_initialize_pipe(pl.const(0, pl.INT32), there, dir_mask=2, slot_size=SLOT)
    pl.tpush_to_aic(pl.add(pl.load(a, [0, 0], [D, D]), pl.load(b, [0, 0], [D, D])), split=0)


@pl.function(type=pl.FunctionType.AIC)
def multiplies(
    a: pl.Tensor[[D, D], pl.FP32], b: pl.Tensor[[D, D], pl.FP32], y: pl.Out[pl.Tensor[[D, D], pl.FP32]]
) -> pl.Tensor[[D, D], pl.FP32]:
    here = pl.reserve_buffer(name="sums", size=8 * SLOT, base=pl.AUTO)
    pl.aic_initialize_pipe(pl.const(0, pl.INT32), here, dir_mask=2, slot_size=SLOT)
    total: pl.Tile[[D, D], pl.FP32, pl.Mem.Mat] = pl.tpop_from_aiv(split=0)
    right = pl.move(pl.load(b, [0, 0], [D, D], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
    product = pl.matmul(pl.move(total, target_memory=pl.Mem.Left), right)
    pl.tfree_to_aiv(total)
    return pl.store(product, [0, 0], y)


@pl.function(type=pl.FunctionType.Group)
def both(
    a: pl.Tensor[[D, D], pl.FP32], b: pl.Tensor[[D, D], pl.FP32], y: pl.Out[pl.Tensor[[D, D], pl.FP32]]
) -> pl.Tensor[[D, D], pl.FP32]:
    result = multiplies(a, b, y)
    adds(a, b, y)
    return result


@pl.jit
def in_an_entry(a: pl.Tensor, b: pl.Tensor, y: pl.Out[pl.Tensor]):
    y = both(a, b, y)
    return y


@pl.program
class InAClass:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, a: pl.Tensor[[D, D], pl.FP32], b: pl.Tensor[[D, D], pl.FP32], y: pl.Out[pl.Tensor[[D, D], pl.FP32]]
    ) -> pl.Tensor[[D, D], pl.FP32]:
        y = both(a, b, y)
        return y


@pytest.mark.parametrize("platform", ("a2a3", "a5"))
@pytest.mark.parametrize("mode", ("functional", "checked"))
@pytest.mark.parametrize("form", ("jit", "class"))
def test_a_task_of_both_kinds_of_cores(form, mode, platform):
    a, b = (np.random.default_rng(seed).integers(-4, 5, (D, D)).astype(np.float32) for seed in (0, 1))
    y, config = np.zeros((D, D), np.float32), RunConfig(platform=platform, mode=mode)
    if form == "jit":
        in_an_entry(a, b, y, config=config)
    else:
        run(InAClass, a, b, y, config=config)
    np.testing.assert_array_equal(y, (a.astype(np.float64) + b) @ b)


def test_another_function_has_the_name_of_one_that_a_called_one_calls():
    with pytest.raises(ParserSyntaxError, match="the function multiplies of outside conflicts with program function"):

        @pl.program
        class Twice:
            @pl.function(type=pl.FunctionType.InCore)
            def multiplies(self, y: pl.Out[pl.Tensor[[D, D], pl.FP32]]) -> pl.Tensor[[D, D], pl.FP32]:
                return pl.store(pl.tile.full([D, D], dtype=pl.FP32, value=0.0), [0, 0], y)

            @pl.function(type=pl.FunctionType.Orchestration)
            def main(
                self,
                a: pl.Tensor[[D, D], pl.FP32],
                b: pl.Tensor[[D, D], pl.FP32],
                y: pl.Out[pl.Tensor[[D, D], pl.FP32]],
            ) -> pl.Tensor[[D, D], pl.FP32]:
                y = both(a, b, y)
                return y

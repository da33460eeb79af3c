"""Groups: functions of cube and vector cores that are one task, with queues between them. Numbers against numpy."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.ir.compiled_program import CompiledProgram
from pypto.language.parser.diagnostics import InvalidOperationError
from pypto.runtime import RunConfig

both = pytest.mark.parametrize("platform", ["a2a3", "a5"])
MODES = {1: pl.SplitMode.UP_DOWN, 2: pl.SplitMode.LEFT_RIGHT}


def numbers(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def run(program, *arrays, platform, mode="functional"):
    CompiledProgram(program, RunConfig(platform=platform, mode=mode))(*arrays)


def finished_product(rows, cols, mode, lanes, narrows=False):
    """relu(x @ w) + 1 of a tile; `lanes`: the function of the vector cores says which half each does; `narrows`: the
    cube core says at run time how many rows are valid."""
    given = pl.SplitMode.NONE if lanes else MODES[mode]
    box = [rows, cols]
    half = box if not lanes else [rows // 2, cols] if mode == 1 else [rows, cols // 2]
    down, right = (half[0], 0) if mode == 1 else (0, half[1])
    slot = rows * cols * 4

    @pl.program
    class P:
        @pl.function(type=pl.FunctionType.AIC, attrs={"split": given})
        def cube(
            self,
            x: pl.Tensor[[rows, 32], pl.FP16],
            w: pl.Tensor[[32, cols], pl.FP16],
            y: pl.Out[pl.Tensor[box, pl.FP32]],
            n: pl.Scalar[pl.INDEX],
        ):
            there = pl.import_peer_buffer(name="sums", peer_func="vector")
            pl.aic_initialize_pipe(dir_mask=1, slot_size=slot, c2v_consumer_buf=there)
            left = pl.load(x, [0, 0], [rows, 32], target_memory=pl.Mem.Mat)
            right_ = pl.load(w, [0, 0], [32, cols], target_memory=pl.Mem.Mat)
            acc = pl.matmul(pl.move(left, target_memory=pl.Mem.Left), pl.move(right_, target_memory=pl.Mem.Right))
            if narrows:
                pl.tpush_to_aiv(pl.tile.set_validshape(acc, n, cols), split=mode)
            else:
                pl.tpush_to_aiv(acc, split=mode)

        @pl.function(type=pl.FunctionType.AIV, attrs={"split": given})
        def vector(
            self,
            x: pl.Tensor[[rows, 32], pl.FP16],
            w: pl.Tensor[[32, cols], pl.FP16],
            y: pl.Out[pl.Tensor[box, pl.FP32]],
            n: pl.Scalar[pl.INDEX],
        ) -> pl.Tensor[box, pl.FP32]:
            here = pl.reserve_buffer(name="sums", size=8 * slot, base=0x1000)
            pl.aiv_initialize_pipe(dir_mask=1, slot_size=slot, c2v_consumer_buf=here)
            lane = pl.tile.get_subblock_idx()
            if lanes:
                got: pl.Tile[half, pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split=mode)
            else:
                got: pl.Tile[half, pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[n, cols])] = pl.tpop_from_aic(
                    split=mode
                )
            done = pl.add(pl.relu(got), 1.0)
            pl.tfree_to_aic(got, split=mode)
            return pl.store(done, [lane * down, lane * right], y)

        @pl.function(type=pl.FunctionType.Group, attrs={"split": given})
        def both(
            self,
            x: pl.Tensor[[rows, 32], pl.FP16],
            w: pl.Tensor[[32, cols], pl.FP16],
            y: pl.Out[pl.Tensor[box, pl.FP32]],
            n: pl.Scalar[pl.INDEX],
        ) -> pl.Tensor[box, pl.FP32]:
            self.cube(x, w, y, n)
            done = self.vector(x, w, y, n)
            return done

        @pl.function(type=pl.FunctionType.Orchestration)
        def main(
            self,
            x: pl.Tensor[[3 * rows, 32], pl.FP16],
            w: pl.Tensor[[32, cols], pl.FP16],
            counts: pl.Tensor[[3], pl.INDEX],
            y: pl.InOut[pl.Tensor[[3 * rows, cols], pl.FP32]],
        ) -> pl.Tensor[[3 * rows, cols], pl.FP32]:
            for i in pl.range(3):
                n = pl.tensor.read(counts, [i])
                self.both(x[i * rows : i * rows + rows, :], w, y[i * rows : i * rows + rows, :], n)
            return y

    return P


@both
@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("lanes, narrows", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("rows, cols", [(32, 32), (16, 64)])
def test_tasks_of_two_functions(platform, mode, lanes, narrows, rows, cols):
    x, w = numbers(3 * rows, 32, dtype=np.float16), numbers(32, cols, seed=1, dtype=np.float16)
    counts = np.array([rows, 5, 1] if not lanes else [rows] * 3, np.int64)
    y = np.full((3 * rows, cols), -7, np.float32)
    run(finished_product(rows, cols, mode, lanes, narrows), x, w, counts, y, platform=platform)
    expected = np.maximum(x.astype(np.float64) @ w.astype(np.float64), 0) + 1
    for i, count in enumerate(counts):
        expected[i * rows + count : (i + 1) * rows] = -7
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3)


def two_queues(slot=16 * 16 * 4, peer_slot=None):
    """(a + b) @ (a - b), the operands through a queue each."""
    first_slot = peer_slot or slot

    @pl.program
    class P:
        @pl.function(type=pl.FunctionType.AIV)
        def vector(
            self,
            a: pl.Tensor[[16, 16], pl.FP32],
            b: pl.Tensor[[16, 16], pl.FP32],
            y: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
        ):
            sums = pl.import_peer_buffer(name="sums", peer_func="cube")
            pl.aiv_initialize_pipe(pl.const(0, pl.INT32), sums, dir_mask=2, slot_size=slot, id=0)
            rests = pl.import_peer_buffer(name="rests", peer_func="cube")
            pl.aiv_initialize_pipe(pl.const(0, pl.INT32), rests, dir_mask=2, slot_size=slot, id=1)
            left = pl.load(a, [0, 0], [16, 16])
            right = pl.load(b, [0, 0], [16, 16])
            sum_ = pl.add(left, right)
            rest = pl.sub(left, right)
            pl.tpush_to_aic(rest, split=0, id=1)  # in the other order than they are taken
            pl.tpush_to_aic(sum_, split=0, id=0)

        @pl.function(type=pl.FunctionType.AIC)
        def cube(
            self,
            a: pl.Tensor[[16, 16], pl.FP32],
            b: pl.Tensor[[16, 16], pl.FP32],
            y: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
        ) -> pl.Tensor[[16, 16], pl.FP32]:
            sums = pl.reserve_buffer(name="sums", size=8 * slot, base=pl.AUTO)
            rests = pl.reserve_buffer(name="rests", size=8 * slot, base=pl.AUTO)
            pl.aic_initialize_pipe(pl.const(0, pl.INT32), sums, dir_mask=2, slot_size=first_slot, id=0)
            pl.aic_initialize_pipe(pl.const(0, pl.INT32), rests, dir_mask=2, slot_size=slot, id=1)
            sum_: pl.Tile[[16, 16], pl.FP32, pl.Mem.Mat] = pl.tpop_from_aiv(split=0, id=0)
            rest: pl.Tile[[16, 16], pl.FP32, pl.Mem.Mat] = pl.tpop_from_aiv(split=0, id=1)
            left = pl.move(sum_, target_memory=pl.Mem.Left)
            right = pl.move(rest, target_memory=pl.Mem.Right)
            acc = pl.matmul(left, right)
            pl.tfree_to_aiv(sum_, id=0)
            pl.tfree_to_aiv(rest, id=1)
            return pl.store(acc, [0, 0], y)

        @pl.function(type=pl.FunctionType.Group)
        def both(
            self,
            a: pl.Tensor[[16, 16], pl.FP32],
            b: pl.Tensor[[16, 16], pl.FP32],
            y: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
        ) -> pl.Tensor[[16, 16], pl.FP32]:
            done = self.cube(a, b, y)
            self.vector(a, b, y)
            return done

        @pl.function(type=pl.FunctionType.Orchestration)
        def main(
            self,
            a: pl.Tensor[[16, 16], pl.FP32],
            b: pl.Tensor[[16, 16], pl.FP32],
            y: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
        ) -> pl.Tensor[[16, 16], pl.FP32]:
            t = pl.create_tensor([16, 16], dtype=pl.FP32)
            t = self.both(a, b, t)
            y = self.both(t, b, y)  # the same kernel behind the first one
            return y

    return P


@both
def test_two_queues_have_their_own_memory_and_flags(platform):
    a, b, y = numbers(16, 16), numbers(16, 16, seed=1), np.zeros((16, 16), np.float32)
    run(two_queues(), a, b, y, platform=platform, mode="checked")
    t = (a + b).astype(np.float64) @ (a - b)
    np.testing.assert_allclose(y, (t + b) @ (t - b), rtol=1e-3, atol=1e-2)


def refused(program, text):
    with pytest.raises(InvalidOperationError) as error:
        CompiledProgram(program, RunConfig(platform="a2a3"))
    assert text in str(error.value)
    assert "test_pypto_groups.py:" in str(error.value)


def test_both_functions_open_the_same_queues():
    refused(two_queues(peer_slot=2048), "cube and vector open queues of other ids or slot sizes; open the same ones")


def other_calls(calls):
    """A group of two functions with a queue that calls them in this way."""
    box = [16, 16]
    once, swapped = calls == "once", calls == "swapped"

    @pl.program
    class P:
        @pl.function(type=pl.FunctionType.AIC)
        def cube(self, x: pl.Tensor[box, pl.FP32], y: pl.Out[pl.Tensor[box, pl.FP32]]):
            there = pl.import_peer_buffer(name="sums", peer_func="vector")
            pl.aic_initialize_pipe(dir_mask=1, slot_size=1024, c2v_consumer_buf=there)
            left = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)
            acc = pl.matmul(pl.move(left, target_memory=pl.Mem.Left), pl.move(left, target_memory=pl.Mem.Right))
            pl.tpush_to_aiv(acc, split=0)

        @pl.function(type=pl.FunctionType.AIV)
        def vector(self, x: pl.Tensor[box, pl.FP32], y: pl.Out[pl.Tensor[box, pl.FP32]]) -> pl.Tensor[box, pl.FP32]:
            here = pl.reserve_buffer(name="sums", size=8192)
            pl.aiv_initialize_pipe(dir_mask=1, slot_size=1024, c2v_consumer_buf=here)
            got: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split=0)
            y = pl.store(got, [0, 0], y)
            pl.tfree_to_aic(got)
            return y

        @pl.function(type=pl.FunctionType.Group)
        def both(
            self, x: pl.Tensor[box, pl.FP32], z: pl.InOut[pl.Tensor[box, pl.FP32]], y: pl.Out[pl.Tensor[box, pl.FP32]]
        ) -> pl.Tensor[box, pl.FP32]:
            if once:
                done = self.vector(x, y)
            elif swapped:
                self.cube(z, y)
                done = self.vector(x, y)
            return done

        @pl.function(type=pl.FunctionType.Orchestration)
        def main(
            self, x: pl.Tensor[box, pl.FP32], z: pl.InOut[pl.Tensor[box, pl.FP32]], y: pl.Out[pl.Tensor[box, pl.FP32]]
        ) -> pl.Tensor[box, pl.FP32]:
            y = self.both(x, z, y)
            return y

    return P


@pytest.mark.parametrize(
    "calls, text",
    [
        ("once", "functions that share queues or events are one of type AIC and one of type AIV, called once each"),
        ("swapped", "cube and vector are one task, but get other arguments; pass both the same list"),
    ],
)
def test_what_a_group_calls(calls, text):
    refused(other_calls(calls), text)

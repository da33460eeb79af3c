"""The host level of programs of several ranks: collectives that it calls, open extents, SubWorkers of Python, workers
that keep tensors, the folders of `ir.compile`. Expectations are numpy's."""

import runpy

import numpy as np
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from pypto import ir
from pypto.ir.distributed_compiled_program import DistributedConfig
from pypto.language.parser.diagnostics import ParserError
from pypto.pypto_core import codegen
from pypto.runtime import DistributedWorker, RunConfig, StackedDeviceTensor
from random_numbers import numbers

W = 48
NR = pl.dynamic("NR")


def devices(ranks):
    return DistributedConfig(device_ids=list(range(ranks)))


def on(ranks):
    return RunConfig(distributed_config=devices(ranks))


# --- collectives ---------------------------------------------------------------------------------


@pl.jit.incore
def publish(x: pl.Tensor[[4, W], pl.FP32], data: pld.DistributedTensor[[4, W], pl.FP32]):
    return pl.store(pl.load(x, [0, 0], [4, W]), [0, 0], data)


@pl.jit
def publishing(x: pl.Tensor[[4, W], pl.FP32], data: pld.DistributedTensor[[4, W], pl.FP32]):
    return publish(x, data)


@pl.jit.incore
def consume(data: pld.DistributedTensor[[4, W], pl.FP32], y: pl.Out[pl.Tensor[[4, W], pl.FP32]]):
    return pl.store(pl.load(data, [0, 0], [4, W]), [0, 0], y)


@pl.jit
def consuming(data: pld.DistributedTensor[[4, W], pl.FP32], y: pl.Out[pl.Tensor[[4, W], pl.FP32]]):
    return consume(data, y)


@pl.jit.host
def reduced(x: pl.Tensor[[NR, 4, W], pl.FP32], y: pl.Out[pl.Tensor[[NR, 2, 4, W], pl.FP32]], way: pl.Scalar[pl.INT32]):
    memory = pld.alloc_window_buffer([4, W], dtype=pl.FP32)
    cells = pld.alloc_window_buffer([7, 4], dtype=pl.INT32)
    signal = pld.window(cells, [7, 4], dtype=pl.INT32)
    for turn in pl.range(2):  # the cells are left as they were
        for r in pl.range(pld.world_size()):
            publishing(x[r], pld.window(memory, [4, W], dtype=pl.FP32), device=r)
        data = pld.window(memory, [4, W], dtype=pl.FP32)
        if way == 0:
            data = pld.tensor.allreduce(data, signal, op=pld.ReduceOp.Max, core_num=3)
        elif way == 1:
            data = pld.tensor.allreduce(data, signal, mode="ring")
        elif way == 2:
            data = pld.tensor.allreduce(data)
        elif way == 3:
            data = pld.tensor.broadcast(data, signal, root=1)
        elif way == 4:
            data = pld.tensor.reduce_scatter(data, signal, op=pld.ReduceOp.Sum)
        else:
            pld.tensor.barrier(signal)
        for r in pl.range(pld.world_size()):
            consuming(data, y[r, turn], device=r)


@pytest.mark.parametrize("way", range(6))
@pytest.mark.parametrize("ranks", [2, 4])
def test_collectives_of_the_host_level(ranks, way):
    x, y = numbers(ranks, 4, W), np.zeros((ranks, 2, 4, W), np.float32)
    reduced(x, y, way, config=on(ranks))
    total = x.astype(np.float64).sum(0)
    expected = [x.max(0), total, total, x[1]]
    for r in range(ranks):
        for turn in range(2):
            if way == 4:
                parts = [each.reshape(ranks, -1)[r] for each in (y[r, turn], total)]
                np.testing.assert_allclose(*parts, rtol=1e-5, atol=1e-6)
            else:
                np.testing.assert_allclose(y[r, turn], [*expected, None, x[r]][way], rtol=1e-5, atol=1e-6)


@pl.program
class Exchange:
    """Rank r sends rows [4 p, 4 p + counts[p]) to rank p."""

    @pl.function(type=pl.FunctionType.InCore)
    def stage(
        self,
        x: pl.Tensor[[8, W], pl.FP32],
        n: pl.Tensor[[2, 1], pl.INT32],
        rows: pl.Out[pld.DistributedTensor[[8, W], pl.FP32]],
        sent: pl.Out[pld.DistributedTensor[[2, 1], pl.INT32]],
    ):
        rows = pl.store(pl.load(x, [0, 0], [8, W]), [0, 0], rows)
        for p in pl.range(2):
            pl.write(sent, [p, 0], pl.read(n, [p, 0]))

    @pl.function(type=pl.FunctionType.Orchestration)
    def staging(
        self,
        x: pl.Tensor[[8, W], pl.FP32],
        n: pl.Tensor[[2, 1], pl.INT32],
        rows: pl.Out[pld.DistributedTensor[[8, W], pl.FP32]],
        sent: pl.Out[pld.DistributedTensor[[2, 1], pl.INT32]],
    ):
        self.stage(x, n, rows, sent)

    @pl.function(type=pl.FunctionType.InCore)
    def take(
        self,
        data: pld.DistributedTensor[[8, W], pl.FP32],
        got: pld.DistributedTensor[[2, 1], pl.INT32],
        y: pl.Out[pl.Tensor[[8, W], pl.FP32]],
        held: pl.Out[pl.Tensor[[2, 1], pl.INT32]],
    ) -> tuple[pl.Tensor[[8, W], pl.FP32], pl.Tensor[[2, 1], pl.INT32]]:
        for p in pl.range(2):
            count = pl.read(got, [p, 0])
            pl.write(held, [p, 0], count)
            for row in pl.range(pl.cast(count, pl.INDEX)):
                y = pl.store(pl.load(data, [p * 4 + row, 0], [1, W]), [p * 4 + row, 0], y)
        return y, held

    @pl.function(type=pl.FunctionType.Orchestration)
    def taking(
        self,
        data: pld.DistributedTensor[[8, W], pl.FP32],
        got: pld.DistributedTensor[[2, 1], pl.INT32],
        y: pl.Out[pl.Tensor[[8, W], pl.FP32]],
        held: pl.Out[pl.Tensor[[2, 1], pl.INT32]],
    ) -> tuple[pl.Tensor[[8, W], pl.FP32], pl.Tensor[[2, 1], pl.INT32]]:
        return self.take(data, got, y, held)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(
        self,
        x: pl.Tensor[[pl.dynamic("R"), 8, W], pl.FP32],
        n: pl.Tensor[[pl.dynamic("R"), 2, 1], pl.INT32],
        y: pl.Out[pl.Tensor[[pl.dynamic("R"), 8, W], pl.FP32]],
        held: pl.Out[pl.Tensor[[pl.dynamic("R"), 2, 1], pl.INT32]],
    ) -> tuple[pl.Tensor[[2, 8, W], pl.FP32], pl.Tensor[[2, 2, 1], pl.INT32]]:
        buffers = [pld.alloc_window_buffer(8 * W * 4), pld.alloc_window_buffer(8 * W * 4)]
        rows = pld.window(buffers[0], [8, W], dtype=pl.FP32)
        data = pld.window(buffers[1], [8, W], dtype=pl.FP32)
        signal = pld.window(pld.alloc_window_buffer(8), [2, 1], dtype=pl.INT32)
        sent = pld.window(pld.alloc_window_buffer(8), [2, 1], dtype=pl.INT32)
        got = pld.window(pld.alloc_window_buffer(8), [2, 1], dtype=pl.INT32)
        for r in pl.range(2):
            self.staging(x[r], n[r], rows, sent, device=r)
        data = pld.tensor.all_to_all_v(rows, data, signal, sent, got)
        for r in pl.range(2):
            self.taking(data, got, y[r], held[r], device=r)
        return y, held


def test_parts_of_counted_rows(tmp_path):
    compiled = ir.compile(Exchange, output_dir=tmp_path, distributed_config=devices(2))
    x, n = numbers(2, 8, W), np.array([[1, 4], [3, 9]], np.int32).reshape(2, 2, 1)
    y, held = np.zeros_like(x), np.zeros_like(n)
    compiled(x, n, y, held)
    expected, counts = np.zeros_like(x), np.minimum(n, 4)
    for source in range(2):
        for to in range(2):
            count = counts[source, to, 0]
            expected[to, source * 4 : source * 4 + count] = x[source, to * 4 : to * 4 + count]
    np.testing.assert_array_equal(held[..., 0], counts[..., 0].T)
    np.testing.assert_array_equal(y, expected)
    with DistributedWorker(compiled) as worker:
        y[:], held[:] = 0, 0
        worker.run_host_orch(compiled, x, n, y, held)
    np.testing.assert_array_equal(held[..., 0], counts[..., 0].T)
    np.testing.assert_array_equal(y, expected)
    # What ir.compile writes of such a program.
    config = runpy.run_path(str(tmp_path / "next_levels" / "builtin.tensor.all_to_all_v__fp32" / "kernel_config.py"))
    assert config["COLLECTIVE"] == "all_to_all_v"
    assert config["ARGUMENTS"][-1] == ("recv_counts", "INT32")


@pl.jit.host
def few_lanes(x: pl.Tensor[[NR, 4, W], pl.FP32], y: pl.Out[pl.Tensor[[NR, 4, W], pl.FP32]]):
    memory, cells = pld.alloc_window_buffer([4, W], dtype=pl.FP32), pld.alloc_window_buffer([2, 2], dtype=pl.INT32)
    data, signal = pld.window(memory, [4, W], dtype=pl.FP32), pld.window(cells, [2, 2], dtype=pl.INT32)
    data = pld.tensor.allreduce(data, signal, core_num=3)
    for r in pl.range(pld.world_size()):
        consuming(data, y[r], device=r)


def test_cells_for_each_core():
    with pytest.raises(ParserError, match=r"allreduce on 3 cores needs a signal of \[ranks, 3\] cells"):
        few_lanes(np.zeros((2, 4, W), np.float32), np.zeros((2, 4, W), np.float32), config=on(2))


@pl.function(type=pl.FunctionType.InCore)
def lonely(
    data: pld.DistributedTensor[[4, W], pl.FP32],
    signal: pld.DistributedTensor[[4, 1], pl.INT32],
    y: pl.Out[pl.Tensor[[4, W], pl.FP32]],
):
    data = pld.tensor.reduce_scatter(data, signal, op=pld.ReduceOp.Sum)
    pl.store(pl.load(data, [0, 0], [4, W]), [0, 0], y)


def test_a_collective_needs_ranks():
    with pytest.raises(ValueError, match="comm.reduce_scatter needs the ranks of a program"):
        codegen.PTOCodegen().generate(ir.Program([lonely], "lonely", lonely.span))


# --- returns in branches, what a kernel has computed -----------------------------------------------


@pl.program
class Chosen:
    @pl.function(type=pl.FunctionType.InCore)
    def one(
        self,
        x: pl.Tensor[[4, W], pl.FP32],
        y: pl.Out[pl.Tensor[[4, W], pl.FP32]],
        data: pl.InOut[pld.DistributedTensor[[4, W], pl.FP32]],
        signal: pl.InOut[pld.DistributedTensor[[2, 1], pl.INT32]],
        number: pl.Scalar[pl.INT32],
    ) -> pl.Tensor[[4, W], pl.FP32]:
        pld.tensor.remote_store(pl.tensor.add(x, x), data, 1 - number, [0, 0])
        signal = pld.tensor.barrier(signal)
        if number == 0:
            return pl.store(pl.load(data, [0, 0], [4, W]), [0, 0], y)
        elif number == 7:
            return y
        t = pl.load(data, [0, 0], [4, W])
        return pl.store(pl.mul(t, t), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def each(
        self,
        x: pl.Tensor[[4, W], pl.FP32],
        y: pl.Out[pl.Tensor[[4, W], pl.FP32]],
        data: pl.InOut[pld.DistributedTensor[[4, W], pl.FP32]],
        signal: pl.InOut[pld.DistributedTensor[[2, 1], pl.INT32]],
        number: pl.Scalar[pl.INT32],
    ) -> pl.Tensor[[4, W], pl.FP32]:
        return self.one(x, y, data, signal, number)

    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def check(y: pl.Tensor[[2, 4, W], pl.FP32]):  # noqa: N805
        if not abs(y).max() > 0:
            raise AssertionError("nothing was written")

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(
        self, x: pl.Tensor[[2, 4, W], pl.FP32], y: pl.Out[pl.Tensor[[2, 4, W], pl.FP32]]
    ) -> pl.Tensor[[2, 4, W], pl.FP32]:
        memory, cells = pld.alloc_window_buffer(4 * W * 4), pld.alloc_window_buffer(8)
        for r in pl.range(2):
            data = pld.window(memory, [4, W], dtype=pl.FP32)
            self.each(x[r], y[r], data, pld.window(cells, [2, 1], dtype=pl.INT32), r, device=r)
        self.check(y)
        return y


def test_returns_in_branches_and_sub_workers_with_a_body():
    compiled = ir.compile(Chosen, output_dir=None, distributed_config=devices(2))
    x, y = numbers(2, 4, W), np.zeros((2, 4, W), np.float32)
    compiled(x, y)
    np.testing.assert_allclose(y, [2 * x[1], (2 * x[0]) ** 2], rtol=1e-6)
    with pytest.raises(AssertionError, match="nothing was written"):
        compiled(np.zeros_like(x), y)


def test_a_return_that_is_not_at_an_end():
    with pytest.raises(ParserError, match="return must be the last statement"):

        @pl.function(type=pl.FunctionType.InCore)
        def f(x: pl.Tensor[[4, W], pl.FP32], y: pl.Out[pl.Tensor[[4, W], pl.FP32]], n: pl.Scalar[pl.INT32]):
            if n == 0:
                return y
            pl.store(pl.load(x, [0, 0], [4, W]), [0, 0], y)


# --- workers ---------------------------------------------------------------------------------------


@pl.jit.incore
def add(a: pl.Tensor[[4, W], pl.FP32], b: pl.Tensor[[4, W], pl.FP32], y: pl.Out[pl.Tensor[[4, W], pl.FP32]]):
    return pl.store(pl.add(pl.load(a, [0, 0], [4, W]), pl.load(b, [0, 0], [4, W])), [0, 0], y)


@pl.jit
def adding(a: pl.Tensor[[4, W], pl.FP32], b: pl.Tensor[[4, W], pl.FP32], y: pl.Out[pl.Tensor[[4, W], pl.FP32]]):
    y = add(a, b, y)
    return y


@pl.jit.host
def crossed(
    a: pl.Tensor[[2, 4, W], pl.FP32], b: pl.Tensor[[2, 4, W], pl.FP32], y: pl.Out[pl.Tensor[[2, 4, W], pl.FP32]]
):
    part = adding(a[0], b[0], y[0], device=1)
    part = adding(a[1], b[1], y[1], device=0)  # noqa: F841  (a call that gives something)


def test_tensors_that_stay():
    a, b, y = numbers(2, 4, W), numbers(2, 4, W, seed=1), np.zeros((2, 4, W), np.float32)
    compiled = crossed.compile(a, b, y, config=on(2))
    worker = DistributedWorker([compiled])
    held, stacked = worker.alloc_tensor((2, 4, W), np.float32, init=b), worker.alloc_stacked_tensor(b, [1, 0])
    assert isinstance(stacked, StackedDeviceTensor)
    handle = worker.register(compiled)
    for tensor in (held, stacked):
        y[:] = 0
        handle(a, tensor, y)
        np.testing.assert_array_equal(y, a + b)
    y[:] = 0
    worker.submit(compiled, a, held, y).result()
    np.testing.assert_array_equal(y, a + b)
    back = np.zeros_like(b)
    worker.copy_stacked_from(stacked, back)
    np.testing.assert_array_equal(back, b)
    with pytest.raises(ValueError, match=r"worker_ids \[0, 2\] are not 2 different devices of 0 to 1"):
        worker.alloc_stacked_tensor(b, [0, 2])
    worker.free_stacked_tensor(stacked)
    with pytest.raises(ValueError, match="was freed"):
        worker.run(compiled, a, stacked, y)
    with compiled.prepare(config=on(2)) as other, pytest.raises(ValueError, match="belongs to another worker"):
        other(a, held, y)
    worker.close()
    assert handle.closed
    with pytest.raises(RuntimeError, match="register called after close"):
        worker.register(compiled)

"""Runs of programs of several ranks: windows that are kept, waits that are deferred, what SubWorkers
get, collectives that do not belong together."""

import numpy as np
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from pto_mlir.runtime import RuntimeFailure
from pypto.ir.distributed_compiled_program import DistributedCompiledProgram, DistributedConfig
from pypto.runtime import RunConfig

W = 16
CHECKED = ("functional", "checked")


def on(ranks, mode="functional"):
    return RunConfig(mode=mode, distributed_config=DistributedConfig(device_ids=list(range(ranks))))


# --- windows from run to run -------------------------------------------------------------------


@pl.jit.incore
def value(y: pl.Out[pl.Tensor[[1, 1], pl.INT32]], cells: pld.DistributedTensor[[1, 1], pl.INT32]):
    held = pl.read(cells, [0, 0])
    pl.write(cells, [0, 0], held + 1)
    pl.write(y, [0, 0], held)
    return y


@pl.jit.host
def counting(y: pl.Out[pl.Tensor[[2, 1, 1], pl.INT32]]):
    cells = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        value(y[r], pld.window(cells, [1, 1], dtype=pl.INT32), device=r)


def test_windows_are_kept_where_that_is_asked_for():
    y = np.zeros((2, 1, 1), np.int32)
    compiled = counting.compile(y, config=on(2))

    def seen(**how):
        with compiled.prepare(**how) as worker:
            held = []
            for _ in range(3):
                worker(y)
                held.append(y.ravel().tolist())
        return held

    kept = [[0, 0], [1, 1], [2, 2]]
    assert seen(persistent=True, reset_persistent_windows=False) == kept
    assert seen() == seen(persistent=True) == seen(reset_persistent_windows=False) == [[0, 0]] * 3
    compiled(y)
    assert y.ravel().tolist() == [0, 0]
    assert seen(persistent=True, reset_persistent_windows=False) == kept  # a worker begins with zeros


@pl.jit.host
def counting_some(count: pl.Tensor[[1], pl.INT32], y: pl.Out[pl.Tensor[[2, 1, 1], pl.INT32]]):
    cells = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        if r < pl.read(count, [0]):
            value(y[r], pld.window(cells, [1, 1], dtype=pl.INT32), device=r)


def test_windows_are_kept_where_a_number_decides_about_launches():
    y = np.full((2, 1, 1), -1, np.int32)
    compiled = counting_some.compile(np.array([1], np.int32), y, config=on(2))

    def seen(counts, **how):
        held = []
        with compiled.prepare(**how) as worker:
            for count in counts:
                y.fill(-1)
                worker(np.array([count], np.int32), y)
                held.append(y.ravel().tolist())
        return held

    kept = {"persistent": True, "reset_persistent_windows": False}
    for _ in range(2):  # a worker begins with zeros
        assert seen([2, 2, 2], **kept) == [[0, 0], [1, 1], [2, 2]]
    assert seen([1, 1], **kept) == [[0, -1], [1, -1]]
    assert seen([2, 2, 1, 2]) == [[0, 0], [0, 0], [0, -1], [0, 0]]
    with pytest.raises(ValueError, match="counting_some: its windows keep what a run with other sizes or numbers left"):
        seen([2, 1], **kept)


@pl.jit.incore
def value_of(
    t: pl.Tensor[[1, 1], pl.INT32],
    x: pl.Tensor[[8, 8], pl.INT32],
    y: pl.Out[pl.Tensor[[1, 8], pl.INT32]],
    cells: pld.DistributedTensor[[1, 1], pl.INT32],
):
    held = pl.read(cells, [0, 0])
    pl.write(cells, [0, 0], held + 1)
    tile = pl.load(x, [pl.read(t, [0, 0]), 0], [1, 8])
    return pl.store(pl.add(tile, held), [0, 0], y)


@pl.jit.host
def counting_rows(
    t: pl.Tensor[[1, 1], pl.INT32], x: pl.Tensor[[8, 8], pl.INT32], y: pl.Out[pl.Tensor[[2, 1, 8], pl.INT32]]
):
    cells = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        value_of(t, x, y[r], pld.window(cells, [1, 1], dtype=pl.INT32), device=r)


def test_windows_after_a_run_that_failed_are_zero():
    x, y = np.arange(64, dtype=np.int32).reshape(8, 8), np.zeros((2, 1, 8), np.int32)
    compiled = counting_rows.compile(np.zeros((1, 1), np.int32), x, y, config=on(2))
    with compiled.prepare(persistent=True, reset_persistent_windows=False) as worker:
        held = []
        for at in (0, 0, 1 << 20, 0, 0):
            try:
                worker(np.array([[at]], np.int32), x, y)
                held.append((y[:, 0] - x[0]).tolist())
            except RuntimeError as error:
                assert "out-of-range" in str(error)
                held.append(None)
    assert held == [[[0] * 8] * 2, [[1] * 8] * 2, None, [[0] * 8] * 2, [[1] * 8] * 2]


# --- waits that hold up only what depends on them ------------------------------------------------


@pl.program
class Deferred:
    @pl.function(type=pl.FunctionType.Orchestration)
    def of_device(
        self,
        x: pl.Tensor[[1, W], pl.INT32],
        y: pl.Out[pl.Tensor[[3, W], pl.INT32]],
        data: pl.InOut[pld.DistributedTensor[[1, W], pl.INT32]],
        cells: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
        peer: pl.Scalar[pl.INT32],
    ):
        with pl.manual_scope():
            for slot in pl.range(3):
                with pl.at(level=pl.Level.CORE_GROUP, name_hint="waits") as waited:
                    pld.system.defer_wait(signal=cells, offsets=[0, 0], expected=7, cmp=pld.WaitCmp.Ge)
                with pl.at(level=pl.Level.CORE_GROUP, name_hint="takes", deps=[waited]):
                    y = pl.store(pl.load(data, [0, 0], [1, W]), [slot, 0], y)
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="gives"):
                pld.tile.remote_store(pl.load(x, [0, 0], [1, W]), target=data, peer=peer, offsets=[0, 0])
                pld.system.notify(target=cells, peer=peer, offsets=[0, 0], value=7, op=pld.NotifyOp.Set)
        return y

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, x: pl.Tensor[[2, 1, W], pl.INT32], y: pl.Out[pl.Tensor[[2, 3, W], pl.INT32]]):
        memory, signals = pld.alloc_window_buffer(W * 4), pld.alloc_window_buffer(4)
        for r in pl.range(pld.world_size()):
            data = pld.window(memory, [1, W], dtype=pl.INT32)
            self.of_device(x[r], y[r], data, pld.window(signals, [1, 1], dtype=pl.INT32), 1 - r, device=r)
        return y


@pytest.mark.parametrize("mode", CHECKED)
def test_a_deferred_wait_holds_up_what_depends_on_it(mode):
    """All of it in order would be a deadlock: the rank's own notification is the last of its launches."""
    x = np.arange(2 * W, dtype=np.int32).reshape(2, 1, W)
    y = np.zeros((2, 3, W), np.int32)
    DistributedCompiledProgram(Deferred, on(2, mode))(x, y)
    np.testing.assert_array_equal(y, np.repeat(x[::-1], 3, axis=1))


# --- SubWorkers ----------------------------------------------------------------------------------


@pl.program
class Reduced:
    @pl.function(type=pl.FunctionType.InCore)
    def scaled(
        self, x: pl.Tensor[[8, W], pl.FP32], y: pl.Out[pl.Tensor[[8, W], pl.FP32]], by: pl.Scalar[pl.FP32]
    ) -> pl.Tensor[[8, W], pl.FP32]:
        return pl.store(pl.mul(pl.load(x, [0, 0], [8, W]), by), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def of_device(
        self, x: pl.Tensor[[8, W], pl.FP32], y: pl.Out[pl.Tensor[[8, W], pl.FP32]], by: pl.Scalar[pl.FP32]
    ) -> pl.Tensor[[8, W], pl.FP32]:
        return self.scaled(x, y, by)

    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def sums(a: pl.Tensor[[8, W], pl.FP32], b: pl.Tensor[[8, W], pl.FP32],  # noqa: N805
             y: pl.Out[pl.Tensor[[8, W], pl.FP32]]) -> pl.Tensor[[8, W], pl.FP32]:  # fmt: skip
        ...

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, x: pl.Tensor[[8, W], pl.FP32], y: pl.Out[pl.Tensor[[8, W], pl.FP32]]) -> pl.Tensor[[8, W], pl.FP32]:
        a = pl.create_tensor([8, W], dtype=pl.FP32)
        b = pl.create_tensor([8, W], dtype=pl.FP32)
        a = self.of_device(x, a, 3.0, device=0)
        b = self.of_device(x, b, 4.0, device=1)
        made = self.sums(a, b, y)
        return made


@pytest.mark.parametrize("gives", [True, False])
def test_a_sub_worker_gets_what_the_host_level_makes(gives):
    def sums(args):
        a, b, y = (each.data.view(np.float32).reshape(each.shape) for each in args)
        y[:] = a + b

    x = np.random.default_rng(0).standard_normal((8, W)).astype(np.float32)
    with DistributedCompiledProgram(Reduced, on(2)).prepare(callbacks={"sums": sums}) as worker:
        y = np.zeros_like(x)
        returned = worker(x) if gives else worker(x, y)
    assert gives or returned is None
    np.testing.assert_allclose(returned if gives else y, 7 * x, rtol=1e-6)


# --- collectives -------------------------------------------------------------------------------------


@pl.jit.incore
def summed(data: pld.DistributedTensor[[2, W], pl.FP32], cells: pld.DistributedTensor[[4, 1], pl.INT32]):
    return pld.tensor.allreduce(data, cells, op=pld.ReduceOp.Sum)


@pl.jit.incore
def spread(data: pld.DistributedTensor[[2, W], pl.FP32], cells: pld.DistributedTensor[[4, 1], pl.INT32]):
    return pld.tensor.broadcast(data, cells, root=0)


@pl.jit.incore
def filled(y: pl.Out[pl.Tensor[[2, W], pl.FP32]], data: pld.DistributedTensor[[2, W], pl.FP32]):
    return pl.store(pl.load(data, [0, 0], [2, W]), [0, 0], y)


@pl.jit.host
def unequal(y: pl.Out[pl.Tensor[[2, W], pl.FP32]]):
    memory = pld.alloc_window_buffer([2, W], dtype=pl.FP32)
    signals = pld.alloc_window_buffer([4, 1], dtype=pl.INT32)
    data, cells = pld.window(memory, [2, W], dtype=pl.FP32), pld.window(signals, [4, 1], dtype=pl.INT32)
    summed(data, cells, device=0)
    spread(data, cells, device=1)
    filled(y, data, device=0)


@pytest.mark.parametrize("mode", CHECKED)
def test_ranks_that_call_different_collectives(mode):
    """A sum meets twice, a broadcast twice as well, with other copies in between: the checked mode sees that."""
    y = np.zeros((2, W), np.float32)
    if mode == "functional":
        unequal(y, config=on(2, mode))
        return
    with pytest.raises(RuntimeFailure, match="race: rank [01]: .* kernel '(spread|summed)', .* missing: a notify"):
        unequal(y, config=on(2, mode))

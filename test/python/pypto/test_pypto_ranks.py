"""Programs of several ranks: the host level, windows, signals, copies between ranks. Expectations are numpy's."""

import numpy as np
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from pypto import ir
from pypto.ir.distributed_compiled_program import DistributedCompiledProgram, DistributedConfig
from pypto.language.parser.diagnostics import ParserError
from pypto.runtime import RunConfig
from random_numbers import numbers

W = 48
NR = pl.dynamic("NR")


def on(ranks, platform="a2a3sim"):
    return RunConfig(platform=platform, distributed_config=DistributedConfig(device_ids=list(range(ranks))))


# --- the host level ----------------------------------------------------------------------------


@pl.jit.incore
def scaled(x: pl.Tensor[[4, W], pl.FP32], y: pl.Out[pl.Tensor[[4, W], pl.FP32]], factor: pl.Scalar[pl.INT32]):
    tile = pl.mul(pl.load(x, [0, 0], [4, W]), pl.cast(factor, target_type=pl.FP32))
    return pl.store(tile, [0, 0], y)


@pl.jit
def of_device(x: pl.Tensor[[4, W], pl.FP32], y: pl.Out[pl.Tensor[[4, W], pl.FP32]], factor: pl.Scalar[pl.INT32]):
    twice = pl.create_tensor([4, W], dtype=pl.FP32)
    twice = scaled(x, twice, 2)
    return scaled(twice, y, factor)


@pl.jit.host
def each_its_own(x: pl.Tensor[[NR, 4, W], pl.FP32], y: pl.Out[pl.Tensor[[NR, 4, W], pl.FP32]]):
    for r in pl.range(pld.world_size()):
        of_device(x[r], y[r], r + 1, device=r)


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_each_device_gets_its_slice_and_its_number(ranks, platform):
    x, y = numbers(ranks, 4, W), np.zeros((ranks, 4, W), np.float32)
    compiled = each_its_own.compile(x, y, config=on(ranks, platform))
    assert isinstance(compiled, DistributedCompiledProgram) and compiled.ranks == ranks
    compiled(x, y)
    np.testing.assert_allclose(y, 2 * x * np.arange(1, ranks + 1, dtype=np.float32)[:, None, None], rtol=1e-6)


@pl.jit.host
def in_turn(
    x: pl.Tensor[[4, W], pl.FP32], y: pl.Out[pl.Tensor[[4, W], pl.FP32]], z: pl.Out[pl.Tensor[[4, W], pl.FP32]]
):
    of_device(x, y, 3, device=1)
    of_device(y, z, 5, device=0)


def test_devices_are_ordered_by_the_tensors_that_they_share():
    x, y, z = numbers(4, W), np.zeros((4, W), np.float32), np.zeros((4, W), np.float32)
    in_turn(x, y, z, config=on(2))
    np.testing.assert_allclose(z, 60 * x, rtol=1e-5)


def test_a_device_that_is_not_there():
    with pytest.raises(ParserError, match="there is no device 1: the program is compiled for 1 rank"):
        in_turn.compile(*(np.zeros((4, W), np.float32) for _ in range(3)))


@pytest.mark.parametrize(
    "ids, message",
    [([], "expects 1 to 64"), ([0, 0], "twice"), ([-1], "no number of a device"), (list(range(65)), "not 65")],
)
def test_wrong_devices(ids, message):
    with pytest.raises(ValueError, match=message):
        DistributedConfig(device_ids=ids)


# --- windows -----------------------------------------------------------------------------------


@pl.jit.incore
def through_window(
    x: pl.Tensor[[4, W], pl.FP32],
    y: pl.Out[pl.Tensor[[4, W], pl.FP32]],
    data: pld.DistributedTensor[[4, W], pl.FP32],
):
    before = pl.load(data, [0, 0], [4, W])
    data = pl.store(pl.load(x, [0, 0], [4, W]), [0, 0], data)
    return pl.store(pl.add(pl.load(data, [0, 0], [4, W]), before), [0, 0], y)


@pl.jit
def window_of_device(
    x: pl.Tensor[[4, W], pl.FP32],
    y: pl.Out[pl.Tensor[[4, W], pl.FP32]],
    data: pld.DistributedTensor[[4, W], pl.FP32],
):
    return through_window(x, y, data)


@pl.jit.host
def windows(x: pl.Tensor[[NR, 4, W], pl.FP32], y: pl.Out[pl.Tensor[[NR, 4, W], pl.FP32]]):
    memory = pld.alloc_window_buffer([4, W], dtype=pl.FP32, name="memory")
    for r in pl.range(pld.world_size()):
        window_of_device(x[r], y[r], pld.window(memory, [4, W], dtype=pl.FP32), device=r)


def test_a_window_is_zero_at_first_in_every_run():
    x, y = numbers(3, 4, W), np.zeros((3, 4, W), np.float32)
    compiled = windows.compile(x, y, config=on(3))
    for _ in range(2):
        compiled(x, y)
        np.testing.assert_array_equal(y, x)


@pl.jit.host
def narrow_window(x: pl.Tensor[[4, W], pl.FP32], y: pl.Out[pl.Tensor[[4, W], pl.FP32]]):
    memory = pld.alloc_window_buffer([4, W - 1], dtype=pl.FP32)
    window_of_device(x, y, pld.window(memory, [4, W], dtype=pl.FP32), device=0)


def test_a_window_that_its_buffer_does_not_hold():
    with pytest.raises(ParserError, match="the window needs 768 bytes, its buffer has 752"):
        narrow_window.compile(*(np.zeros((4, W), np.float32) for _ in range(2)))


@pl.jit.host
def no_window(
    x: pl.Tensor[[4, W], pl.FP32], y: pl.Out[pl.Tensor[[4, W], pl.FP32]], z: pl.InOut[pl.Tensor[[4, W], pl.FP32]]
):
    window_of_device(x, y, z, device=0)


def test_a_distributed_tensor_needs_a_window():
    with pytest.raises(ParserError, match="gets no window"):
        no_window.compile(*(np.zeros((4, W), np.float32) for _ in range(3)))


# --- signals, loads and stores of peers ----------------------------------------------------------


@pl.jit.incore
def ring(
    x: pl.Tensor[[4, W], pl.FP32],
    y: pl.Out[pl.Tensor[[4, W], pl.FP32]],
    sent: pld.DistributedTensor[[4, W], pl.FP32],
    stored: pld.DistributedTensor[[4, W], pl.FP32],
    signal: pld.DistributedTensor[[8, 1], pl.INT32],
):
    ctx = pld.get_comm_ctx(sent)
    me, count = pld.rank(ctx), pld.nranks(ctx)
    mine = pl.load(x, [0, 0], [4, W])
    sent = pl.store(mine, [0, 0], sent)
    pld.tile.remote_store(mine, stored, peer=(me + 1) % count, offsets=[0, 0])
    signal = pld.tensor.barrier(signal)
    after = pld.tile.remote_load(sent, peer=(me + 1) % count, offsets=[0, 0], shape=[4, W])
    before = pl.load(stored, [0, 0], [4, W])
    signal = pld.tensor.barrier(signal)
    return pl.store(pl.sub(after, before), [0, 0], y)


@pl.jit
def ring_of_device(
    x: pl.Tensor[[4, W], pl.FP32],
    y: pl.Out[pl.Tensor[[4, W], pl.FP32]],
    sent: pld.DistributedTensor[[4, W], pl.FP32],
    stored: pld.DistributedTensor[[4, W], pl.FP32],
    signal: pld.DistributedTensor[[8, 1], pl.INT32],
):
    for _ in pl.range(2):
        y = ring(x, y, sent, stored, signal)
    return y


@pl.jit.host
def rings(x: pl.Tensor[[NR, 4, W], pl.FP32], y: pl.Out[pl.Tensor[[NR, 4, W], pl.FP32]]):
    sent = pld.alloc_window_buffer([4, W], dtype=pl.FP32)
    stored = pld.alloc_window_buffer([4, W], dtype=pl.FP32)
    signal = pld.alloc_window_buffer([8, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        ring_of_device(
            x[r],
            y[r],
            pld.window(sent, [4, W], dtype=pl.FP32),
            pld.window(stored, [4, W], dtype=pl.FP32),
            pld.window(signal, [8, 1], dtype=pl.INT32),
            device=r,
        )


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_loads_and_stores_of_peers_around_a_barrier(ranks, platform):
    x, y = numbers(ranks, 4, W), np.zeros((ranks, 4, W), np.float32)
    rings(x, y, config=on(ranks, platform))
    np.testing.assert_array_equal(y, np.roll(x, -1, 0) - np.roll(x, 1, 0))


def test_a_barrier_needs_a_cell_for_each_rank():
    x, y = numbers(9, 4, W), np.zeros((9, 4, W), np.float32)
    with pytest.raises(ParserError, match="signal has 8 cells; a barrier of 9 ranks needs one for each"):
        rings(x, y, config=on(9))


@pl.jit.incore
def told(y: pl.Out[pl.Tensor[[4, 1], pl.INT32]], cells: pld.DistributedTensor[[4, 1], pl.INT32]):
    ctx = pld.get_comm_ctx(cells)
    me, count = pld.rank(ctx), pld.nranks(ctx)
    for peer in pl.range(count):
        if peer != me:
            pld.system.notify(cells, peer=peer, offsets=[me, 0], value=me + 5, op=pld.NotifyOp.Set)
            pld.system.notify(cells, peer=peer, offsets=[3, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(cells, offsets=[3, 0], expected=count - 1, cmp=pld.WaitCmp.Eq)
    for i in pl.range(4):
        pl.write(y, [i, 0], pl.read(cells, [i, 0]))
    return y


@pl.jit
def told_of_device(y: pl.Out[pl.Tensor[[4, 1], pl.INT32]], cells: pld.DistributedTensor[[4, 1], pl.INT32]):
    return told(y, cells)


@pl.jit.host
def telling(y: pl.Out[pl.Tensor[[3, 4, 1], pl.INT32]]):
    cells = pld.alloc_window_buffer([4, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        told_of_device(y[r], pld.window(cells, [4, 1], dtype=pl.INT32), device=r)


def test_cells_are_set_and_counted():
    y = np.zeros((3, 4, 1), np.int32)
    telling(y, config=on(3))
    expected = np.tile(np.array([5, 6, 7, 2], np.int32), (3, 1))
    np.fill_diagonal(expected, 0)
    np.testing.assert_array_equal(y[:, :, 0], expected)


# --- copies ----------------------------------------------------------------------------------------


@pl.jit.incore
def copies(
    x: pl.Tensor[[5, 77], pl.FP32],
    y: pl.Out[pl.Tensor[[5, 77], pl.FP32]],
    z: pl.InOut[pl.Tensor[[5, 77], pl.FP32]],
    given: pld.DistributedTensor[[5, 77], pl.FP32],
    taken: pld.DistributedTensor[[5, 77], pl.FP32],
    signal: pld.DistributedTensor[[8, 1], pl.INT32],
):
    ctx = pld.get_comm_ctx(given)
    me, count = pld.rank(ctx), pld.nranks(ctx)
    pld.tensor.put(given, peer=(me + 1) % count, src=x, chunk_rows=2, chunk_cols=50)
    pld.tensor.put(given, peer=(me + 1) % count, src=x, shape=[2, 3], dst_offsets=[1, 70], src_offsets=[3, 2],
                   atomic=pld.AtomicType.Add)  # fmt: skip
    signal = pld.tensor.barrier(signal)
    pld.tensor.get(taken, peer=(me + 1) % count, src=given)
    pld.tensor.get(z, peer=me, src=given, shape=[1, 9], dst_offsets=[4, 60])
    return pl.store(pl.load(taken, [0, 0], [5, 77]), [0, 0], y)


@pl.jit
def copies_of_device(
    x: pl.Tensor[[5, 77], pl.FP32],
    y: pl.Out[pl.Tensor[[5, 77], pl.FP32]],
    z: pl.InOut[pl.Tensor[[5, 77], pl.FP32]],
    given: pld.DistributedTensor[[5, 77], pl.FP32],
    taken: pld.DistributedTensor[[5, 77], pl.FP32],
    signal: pld.DistributedTensor[[8, 1], pl.INT32],
):
    return copies(x, y, z, given, taken, signal)


@pl.jit.host
def copying(
    x: pl.Tensor[[NR, 5, 77], pl.FP32],
    y: pl.Out[pl.Tensor[[NR, 5, 77], pl.FP32]],
    z: pl.InOut[pl.Tensor[[NR, 5, 77], pl.FP32]],
):
    given = pld.alloc_window_buffer([5, 77], dtype=pl.FP32)
    taken = pld.alloc_window_buffer(5 * 77 * 4)
    signal = pld.alloc_window_buffer([8, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        copies_of_device(
            x[r],
            y[r],
            z[r],
            pld.window(given, [5, 77], dtype=pl.FP32),
            pld.window(taken, [5, 77], dtype=pl.FP32),
            pld.window(signal, [8, 1], dtype=pl.INT32),
            device=r,
        )


@pytest.mark.parametrize("ranks", [2, 4])
def test_copies_of_parts_and_in_chunks(ranks):
    x, y, z = numbers(ranks, 5, 77), np.zeros((ranks, 5, 77), np.float32), numbers(ranks, 5, 77, seed=1)
    expected = z.copy()
    copying(x, y, z, config=on(ranks))
    given = np.roll(x, 1, 0).copy()
    given[:, 1:3, 70:73] += np.roll(x, 1, 0)[:, 3:5, 2:5]
    np.testing.assert_allclose(y, np.roll(given, -1, 0), rtol=1e-6)
    expected[:, 4:, 60:69] = given[:, :1, :9]
    np.testing.assert_allclose(z, expected, rtol=1e-6)


# --- waits that nobody satisfies -------------------------------------------------------------------


@pl.jit.incore
def waits(y: pl.Out[pl.Tensor[[4, 1], pl.INT32]], cells: pld.DistributedTensor[[4, 1], pl.INT32]):
    me = pld.rank(pld.get_comm_ctx(cells))
    if me != 2:
        pld.system.wait(cells, offsets=[2, 0], expected=1, cmp=pld.WaitCmp.Ge)
    pl.write(y, [0, 0], me)
    return y


@pl.jit
def waits_of_device(y: pl.Out[pl.Tensor[[4, 1], pl.INT32]], cells: pld.DistributedTensor[[4, 1], pl.INT32]):
    return waits(y, cells)


@pl.jit.host
def waiting(y: pl.Out[pl.Tensor[[3, 4, 1], pl.INT32]]):
    cells = pld.alloc_window_buffer([4, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        waits_of_device(y[r], pld.window(cells, [4, 1], dtype=pl.INT32), device=r)


def test_a_wait_that_nobody_satisfies():
    y = np.zeros((3, 4, 1), np.int32)
    compiled = waiting.compile(y, config=on(3))
    with pytest.raises(RuntimeError) as caught:
        compiled(y)
    text = str(caught.value)
    assert "deadlock" in text and "rank 0 in kernel 'waits'" in text
    assert "which is 0, to be at least 1" in text and "rank 2 has ended" in text and "rank 1 in kernel 'waits'" in text


# --- class form, SubWorkers ------------------------------------------------------------------------


@pl.program
class Observed:
    @pl.function(type=pl.FunctionType.InCore)
    def square(
        self, x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]
    ) -> pl.Tensor[[8, 64], pl.FP32]:
        t = pl.load(x, [0, 0], [8, 64])
        return pl.store(pl.mul(t, t), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def of_device(
        self, x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]
    ) -> pl.Tensor[[8, 64], pl.FP32]:
        return self.square(x, y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def look(y: pl.Tensor[[8, 64], pl.FP32]):  # noqa: N805
        ...

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(
        self, x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]
    ) -> pl.Tensor[[8, 64], pl.FP32]:
        z: pl.Tensor[[8, 64], pl.FP32] = self.of_device(x, y)
        self.look(z)
        return z


def test_a_sub_worker_sees_the_result(tmp_path):
    x, y, seen = numbers(8, 64), np.zeros((8, 64), np.float32), []
    compiled = ir.compile(Observed, output_dir=tmp_path, distributed_config=DistributedConfig())
    assert isinstance(compiled, DistributedCompiledProgram) and (tmp_path / "Observed.pmodel").exists()
    look = lambda args: seen.append(args[0].data.view(np.float32).reshape(args[0].shape).copy())
    with compiled.prepare(callbacks={"look": look}) as worker:
        worker(x, y)
    np.testing.assert_array_equal(y, x * x)
    np.testing.assert_array_equal(seen[0], y)
    with pytest.raises(RuntimeError, match="DistributedWorker.run called after close"):
        worker(x, y)


def test_sub_workers_are_bound_by_name():
    compiled = DistributedCompiledProgram(Observed, on(1))
    with pytest.raises(ValueError, match="SubWorkers are not bound: look"):
        compiled.prepare()
    with pytest.raises(ValueError, match="other: not sub-workers that a program calls"):
        compiled.prepare(callbacks={"look": print, "other": print})
    with pytest.raises(ValueError, match="the SubWorker look is not bound"):
        compiled(numbers(8, 64), np.zeros((8, 64), np.float32))


# --- collectives -----------------------------------------------------------------------------------


@pl.jit.incore
def all_of_them(
    x: pl.Tensor[[8, 40], pl.FP32],
    y: pl.Out[pl.Tensor[[5, 8, 40], pl.FP32]],
    data: pld.DistributedTensor[[8, 40], pl.FP32],
    signal: pld.DistributedTensor[[8, 1], pl.INT32],
    ranks: pl.Scalar[pl.INT32],
    peak: pl.Scalar[pl.INT32],
):
    data = pl.store(pl.load(x, [0, 0], [8, 40]), [0, 0], data)
    if peak == 1:
        data = pld.tensor.allreduce(data, signal, op=pld.ReduceOp.Max)
    else:
        data = pld.tensor.allreduce(data, signal, op=pld.ReduceOp.Sum)
    y = pl.store(pl.load(data, [0, 0], [8, 40]), [0, 0, 0], y)
    signal = pld.tensor.barrier(signal)
    data = pl.store(pl.load(x, [0, 0], [8, 40]), [0, 0], data)
    data = pld.tensor.broadcast(data, signal, root=1)
    y = pl.store(pl.load(data, [0, 0], [8, 40]), [1, 0, 0], y)
    signal = pld.tensor.barrier(signal)
    data = pld.tensor.all_to_all(x, data, signal)
    y = pl.store(pl.load(data, [0, 0], [8, 40]), [2, 0, 0], y)
    signal = pld.tensor.barrier(signal)
    data = pl.store(pl.load(x, [0, 0], [8, 40]), [0, 0], data)
    data = pld.tensor.reduce_scatter(data, signal, op=pld.ReduceOp.Sum)
    y = pl.store(pl.load(data, [0, 0], [8, 40]), [3, 0, 0], y)
    return y


@pl.jit
def collectives_of_device(
    x: pl.Tensor[[8, 40], pl.FP32],
    y: pl.Out[pl.Tensor[[5, 8, 40], pl.FP32]],
    data: pld.DistributedTensor[[8, 40], pl.FP32],
    signal: pld.DistributedTensor[[8, 1], pl.INT32],
    ranks: pl.Scalar[pl.INT32],
    peak: pl.Scalar[pl.INT32],
):
    for _ in pl.range(2):  # signals are left as they were
        y = all_of_them(x, y, data, signal, ranks, peak)
    return y


@pl.jit.host
def collectives(
    x: pl.Tensor[[NR, 8, 40], pl.FP32], y: pl.Out[pl.Tensor[[NR, 5, 8, 40], pl.FP32]], peak: pl.Scalar[pl.INT32]
):
    memory = pld.alloc_window_buffer([8, 40], dtype=pl.FP32)
    cells = pld.alloc_window_buffer([8, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        data = pld.window(memory, [8, 40], dtype=pl.FP32)
        signal = pld.window(cells, [8, 1], dtype=pl.INT32)
        collectives_of_device(x[r], y[r], data, signal, r, peak, device=r)


@pytest.mark.parametrize("ranks, peak", [(2, 0), (4, 1)])
def test_collectives(ranks, peak):
    x, y = numbers(ranks, 8, 40), np.zeros((ranks, 5, 8, 40), np.float32)
    collectives(x, y, peak, config=on(ranks))
    total = x.astype(np.float64).sum(0)
    np.testing.assert_allclose(y[:, 0], np.tile(x.max(0) if peak else total, (ranks, 1, 1)), rtol=1e-5, atol=1e-6)
    assert all(y[r, 0].tobytes() == y[0, 0].tobytes() for r in range(ranks))
    np.testing.assert_array_equal(y[:, 1], np.tile(x[1], (ranks, 1, 1)))
    parts = x.reshape(ranks, ranks, -1)  # [from, to]
    np.testing.assert_array_equal(y[:, 2].reshape(ranks, ranks, -1), parts.transpose(1, 0, 2))
    scattered = y[:, 3].reshape(ranks, ranks, -1)
    for r in range(ranks):
        np.testing.assert_allclose(scattered[r, r], parts[:, r].astype(np.float64).sum(0), rtol=1e-5, atol=1e-6)


@pl.jit.incore
def gathers(
    x: pl.Tensor[[2, 40], pl.FP32],
    y: pl.Out[pl.Tensor[[6, 40], pl.FP32]],
    data: pld.DistributedTensor[[6, 40], pl.FP32],
    signal: pld.DistributedTensor[[3, 1], pl.INT32],
):
    data = pld.tensor.allgather(x, data, signal)
    return pl.store(pl.load(data, [0, 0], [6, 40]), [0, 0], y)


@pl.jit.host
def gathering(x: pl.Tensor[[NR, 2, 40], pl.FP32], y: pl.Out[pl.Tensor[[NR, 6, 40], pl.FP32]]):
    memory = pld.alloc_window_buffer([6, 40], dtype=pl.FP32)
    cells = pld.alloc_window_buffer([3, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        data = pld.window(memory, [6, 40], dtype=pl.FP32)
        gathers(x[r], y[r], data, pld.window(cells, [3, 1], dtype=pl.INT32), device=r)


def test_all_gather_and_its_sizes():
    x, y = numbers(3, 2, 40), np.zeros((3, 6, 40), np.float32)
    gathering(x, y, config=on(3))
    np.testing.assert_array_equal(y, np.tile(x.reshape(6, 40), (3, 1, 1)))
    with pytest.raises(ParserError, match="data has 240 elements, and x 80, for 2 ranks"):
        gathering(x[:2], y[:2], config=on(2))

"""Groups of fewer devices than the program has, and signals of cube kernels. Expectations are numpy's."""

import time

import numpy as np
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from pypto.ir.distributed_compiled_program import DistributedCompiledProgram, DistributedConfig
from pypto.language.parser.diagnostics import PlacedError
from pypto.runtime import RunConfig
from random_numbers import numbers

W = 64
PLATFORMS = ["a2a3sim", "a5sim"]
MODES = ["functional", "checked"]


def on(ranks, mode="functional", platform="a2a3sim"):
    config = DistributedConfig(device_ids=list(range(ranks)))
    return RunConfig(platform=platform, mode=mode, distributed_config=config)


# --- groups ------------------------------------------------------------------------------------------


@pl.jit.incore
def swap(
    x: pl.Tensor[[1, W], pl.FP32],
    y: pl.Out[pl.Tensor[[1, W], pl.FP32]],
    data: pld.DistributedTensor[[1, W], pl.FP32],
    cells: pld.DistributedTensor[[1, 1], pl.INT32],
    peer: pl.Scalar[pl.INT32],
):
    data = pl.store(pl.load(x, [0, 0], [1, W]), [0, 0], data)
    pld.system.notify(cells, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    pld.system.wait(signal=cells, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    return pl.store(pld.tile.remote_load(data, peer=peer, offsets=[0, 0], shape=[1, W]), [0, 0], y)


@pl.jit.host
def two_groups(
    x: pl.Tensor[[3, 1, W], pl.FP32], a: pl.Out[pl.Tensor[[3, 1, W], pl.FP32]], b: pl.Out[pl.Tensor[[3, 1, W], pl.FP32]]
):
    data_a, cells_a = pld.alloc_window_buffer([1, W], dtype=pl.FP32), pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    data_b, cells_b = pld.alloc_window_buffer([1, W], dtype=pl.FP32), pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data, cells = pld.window(data_a, [1, W], dtype=pl.FP32), pld.window(cells_a, [1, 1], dtype=pl.INT32)
        swap(x[r], a[r], data, cells, 1 - r, device=r)
    for r in pl.range(1, 3):
        data, cells = pld.window(data_b, [1, W], dtype=pl.FP32), pld.window(cells_b, [1, 1], dtype=pl.INT32)
        swap(x[r], b[r], data, cells, 2 - r, device=r)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("mode", MODES)
def test_groups_that_share_a_device(mode, platform):
    x, a, b = numbers(3, 1, W), np.zeros((3, 1, W), np.float32), np.zeros((3, 1, W), np.float32)
    two_groups(x, a, b, config=on(3, mode, platform))
    np.testing.assert_array_equal(a, np.stack([x[1], x[0], 0 * x[2]]))
    np.testing.assert_array_equal(b, np.stack([0 * x[0], x[2], x[1]]))


@pl.program
class OneAxis:
    """The host level has windows of one axis, the functions of devices declare two."""

    @pl.function(type=pl.FunctionType.InCore)
    def step(
        self,
        x: pl.Tensor[[1, W], pl.FP32],
        y: pl.Out[pl.Tensor[[1, W], pl.FP32]],
        data: pl.InOut[pld.DistributedTensor[[1, W], pl.FP32]],
        cells: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
        peer: pl.Scalar[pl.INT32],
    ) -> pl.Tensor[[1, W], pl.FP32]:
        pl.store(pl.load(x, [0, 0], [1, W]), [0, 0], data)
        pld.system.notify(cells, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        pld.system.wait(signal=cells, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
        return pl.store(pld.tile.remote_load(data, peer=peer, offsets=[0, 0], shape=[1, W]), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(
        self, x: pl.Tensor[[3, 1, W], pl.FP32], y: pl.Out[pl.Tensor[[3, 1, W], pl.FP32]]
    ) -> pl.Tensor[[3, 1, W], pl.FP32]:
        memory = pld.alloc_window_buffer(W * pl.FP32.get_byte())
        signals = pld.alloc_window_buffer(pl.INT32.get_byte())
        for r in pl.range(1, 3):
            data = pld.window(memory, [W], dtype=pl.FP32)
            cells = pld.window(signals, [1], dtype=pl.INT32)
            self.step(x[r], y[r], data, cells, 2 - r, device=r)
        return y


def test_windows_of_other_axes():
    x, y = numbers(3, 1, W), np.zeros((3, 1, W), np.float32)
    DistributedCompiledProgram(OneAxis, on(3))(x, y)
    np.testing.assert_array_equal(y, np.stack([0 * x[0], x[2], x[1]]))


@pl.jit.incore
def told(
    y: pl.Out[pl.Tensor[[1, 8], pl.INT32]],
    outer: pld.DistributedTensor[[4, 1], pl.INT32],
    inner: pld.DistributedTensor[[4, 1], pl.INT32],
):
    a, b = pld.get_comm_ctx(outer), pld.get_comm_ctx(inner)
    pl.write(y, [0, 0], pld.rank(a))
    pl.write(y, [0, 1], pld.nranks(a))
    pl.write(y, [0, 2], pld.rank(b))
    pl.write(y, [0, 3], pld.nranks(b))
    return y


@pl.jit.incore
def reduced(
    x: pl.Tensor[[2, W], pl.FP32],
    y: pl.Out[pl.Tensor[[2, W], pl.FP32]],
    data: pld.DistributedTensor[[2, W], pl.FP32],
    cells: pld.DistributedTensor[[4, 1], pl.INT32],
):
    data = pl.store(pl.load(x, [0, 0], [2, W]), [0, 0], data)
    data = pld.tensor.allreduce(data, cells, op=pld.ReduceOp.Sum)
    return pl.store(pl.load(data, [0, 0], [2, W]), [0, 0], y)


@pl.jit.host
def of_the_last_three(
    x: pl.Tensor[[4, 2, W], pl.FP32],
    y: pl.Out[pl.Tensor[[4, 2, W], pl.FP32]],
    n: pl.Out[pl.Tensor[[4, 1, 8], pl.INT32]],
):
    all_cells, cells_of = (
        pld.alloc_window_buffer([4, 1], dtype=pl.INT32),
        pld.alloc_window_buffer([4, 1], dtype=pl.INT32),
    )
    memory = pld.alloc_window_buffer([2, W], dtype=pl.FP32)
    for r in pl.range(1, 4):
        data, cells = pld.window(memory, [2, W], dtype=pl.FP32), pld.window(cells_of, [4, 1], dtype=pl.INT32)
        reduced(x[r], y[r], data, cells, device=r)
        told(n[r], pld.window(all_cells, [4, 1], dtype=pl.INT32), cells, device=r)
    outer = pld.window(all_cells, [4, 1], dtype=pl.INT32)
    told(n[0], outer, outer, device=0)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("mode", MODES)
def test_a_collective_of_a_group_and_ranks_in_it(mode, platform):
    x, y, n = numbers(4, 2, W), np.zeros((4, 2, W), np.float32), np.zeros((4, 1, 8), np.int32)
    of_the_last_three(x, y, n, config=on(4, mode, platform))
    np.testing.assert_allclose(y[1:], np.broadcast_to(x[1:].sum(0), (3, 2, W)), rtol=1e-6, atol=1e-6)
    assert not y[0].any()
    np.testing.assert_array_equal(n[:, 0, :4], [[0, 4, 0, 4], [1, 4, 0, 3], [2, 4, 1, 3], [3, 4, 2, 3]])


@pl.jit.incore
def put_in(x: pl.Tensor[[2, W], pl.FP32], data: pld.DistributedTensor[[2, W], pl.FP32]):
    return pl.store(pl.load(x, [0, 0], [2, W]), [0, 0], data)


@pl.jit.incore
def taken(y: pl.Out[pl.Tensor[[2, W], pl.FP32]], data: pld.DistributedTensor[[2, W], pl.FP32]):
    return pl.store(pl.load(data, [0, 0], [2, W]), [0, 0], y)


@pl.jit.host
def of_the_host_level(x: pl.Tensor[[3, 2, W], pl.FP32], y: pl.Out[pl.Tensor[[3, 2, W], pl.FP32]]):
    memory = pld.alloc_window_buffer([2, W], dtype=pl.FP32)
    data = pld.window(memory, [2, W], dtype=pl.FP32)
    for r in pl.range(0, 3, 2):
        put_in(x[r], data, device=r)
    pld.tensor.allreduce(data, op=pld.ReduceOp.Max)
    for r in pl.range(0, 3, 2):
        taken(y[r], data, device=r)


def test_a_collective_of_the_host_level_is_of_the_group():
    """Devices 0 and 2: device 1 has no copy, and launches nothing."""
    x, y = numbers(3, 2, W), np.zeros((3, 2, W), np.float32)
    of_the_host_level(x, y, config=on(3))
    np.testing.assert_array_equal(y, np.stack([np.maximum(x[0], x[2]), 0 * x[1], np.maximum(x[0], x[2])]))


@pl.jit.incore
def summed(data: pld.DistributedTensor[[2, W], pl.FP32], cells: pld.DistributedTensor[[4, 1], pl.INT32]):
    return pld.tensor.allreduce(data, cells, op=pld.ReduceOp.Sum)


@pl.jit.incore
def met(cells: pld.DistributedTensor[[4, 1], pl.INT32]):
    return pld.tensor.barrier(cells)


@pl.jit.host
def unequal_groups(y: pl.Out[pl.Tensor[[2, W], pl.FP32]]):
    data = pld.window(pld.alloc_window_buffer([2, W], dtype=pl.FP32), [2, W], dtype=pl.FP32)
    cells = pld.window(pld.alloc_window_buffer([4, 1], dtype=pl.INT32), [4, 1], dtype=pl.INT32)
    for r in pl.range(2):
        summed(data, cells, device=r)
    met(cells, device=2)
    taken(y, data, device=0)


def test_windows_of_one_collective_are_of_one_group():
    with pytest.raises(PlacedError, match="cells is a window of other devices than those before it"):
        unequal_groups(np.zeros((2, W), np.float32), config=on(3))


@pl.jit.host
def a_peer_too_far(x: pl.Tensor[[3, 1, W], pl.FP32], y: pl.Out[pl.Tensor[[3, 1, W], pl.FP32]]):
    memory, signals = pld.alloc_window_buffer([1, W], dtype=pl.FP32), pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data, cells = pld.window(memory, [1, W], dtype=pl.FP32), pld.window(signals, [1, 1], dtype=pl.INT32)
        swap(x[r], y[r], data, cells, 2, device=r)


def test_a_peer_outside_of_the_group():
    """Device 2 is there, but has no copy."""
    x, y = numbers(3, 1, W), np.zeros((3, 1, W), np.float32)
    with pytest.raises(RuntimeError, match="swap.*(reaches|outside|beyond|out of)"):
        a_peer_too_far(x, y, config=on(3))
    assert not y.any()


@pl.jit.host
def one_waits(x: pl.Tensor[[3, 1, W], pl.FP32], y: pl.Out[pl.Tensor[[3, 1, W], pl.FP32]]):
    memory, signals = pld.alloc_window_buffer([1, W], dtype=pl.FP32), pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    data, cells = pld.window(memory, [1, W], dtype=pl.FP32), pld.window(signals, [1, 1], dtype=pl.INT32)
    swap(x[1], y[1], data, cells, 0, device=2)


def test_a_device_alone_in_its_group_signals_itself():
    x, y = numbers(3, 1, W), np.zeros((3, 1, W), np.float32)
    one_waits(x, y, config=on(3))
    np.testing.assert_array_equal(y[1], x[1])


@pl.jit.incore
def waits(y: pl.Out[pl.Tensor[[1, W], pl.FP32]], cells: pld.DistributedTensor[[1, 1], pl.INT32]):
    pld.system.wait(signal=cells, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    return pl.store(pl.tile.full([1, W], pl.FP32, 1.0), [0, 0], y)


@pl.jit.incore
def tells(y: pl.Out[pl.Tensor[[1, W], pl.FP32]], cells: pld.DistributedTensor[[1, 1], pl.INT32]):
    pld.system.notify(cells, peer=0, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)
    return pl.store(pl.tile.full([1, W], pl.FP32, 2.0), [0, 0], y)


@pl.jit.host
def told_elsewhere(y: pl.Out[pl.Tensor[[3, 1, W], pl.FP32]]):
    first, second = pld.alloc_window_buffer([1, 1], dtype=pl.INT32), pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    tells(y[0], pld.window(first, [1, 1], dtype=pl.INT32), device=0)
    tells(y[1], pld.window(first, [1, 1], dtype=pl.INT32), device=1)
    waits(y[2], pld.window(second, [1, 1], dtype=pl.INT32), device=2)


def test_a_wait_outside_of_the_group_that_is_told():
    y, begin = np.zeros((3, 1, W), np.float32), time.perf_counter()
    with pytest.raises(RuntimeError, match="deadlock: rank 2 in kernel 'waits'"):
        told_elsewhere(y, config=on(3))
    assert time.perf_counter() - begin < 5


# --- signals of cube kernels -------------------------------------------------------------------------


@pl.jit.incore
def product_for_the_peer(
    a: pl.Tensor[[32, W], pl.FP16],
    b: pl.Tensor[[W, 32], pl.FP16],
    data: pld.DistributedTensor[[32, 32], pl.FP32],
    cells: pld.DistributedTensor[[1, 1], pl.INT32],
):
    left = pl.load(a, [0, 0], [32, W], target_memory=pl.MemorySpace.Mat)
    right = pl.load(b, [0, 0], [W, 32], target_memory=pl.MemorySpace.Mat)
    left = pl.move(left, target_memory=pl.MemorySpace.Left)
    right = pl.move(right, target_memory=pl.MemorySpace.Right)
    data = pl.store(pl.matmul(left, right), [0, 0], data)
    peer = 1 - pld.rank(pld.get_comm_ctx(data))
    pld.system.notify(cells, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    return data


@pl.jit.incore
def product_of_the_peers(
    b: pl.Tensor[[W, 32], pl.FP16],
    y: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    data: pld.DistributedTensor[[32, W], pl.FP16],
    cells: pld.DistributedTensor[[1, 1], pl.INT32],
):
    pld.system.wait(signal=cells, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    left = pl.load(data, [0, 0], [32, W], target_memory=pl.MemorySpace.Mat)
    right = pl.load(b, [0, 0], [W, 32], target_memory=pl.MemorySpace.Mat)
    left = pl.move(left, target_memory=pl.MemorySpace.Left)
    right = pl.move(right, target_memory=pl.MemorySpace.Right)
    return pl.store(pl.matmul(left, right), [0, 0], y)


@pl.jit.incore
def from_the_peer(
    y: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    data: pld.DistributedTensor[[32, 32], pl.FP32],
    cells: pld.DistributedTensor[[1, 1], pl.INT32],
):
    pld.system.wait(signal=cells, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    peer = 1 - pld.rank(pld.get_comm_ctx(data))
    return pl.store(pld.tile.remote_load(data, peer=peer, offsets=[0, 0], shape=[32, 32]), [0, 0], y)


@pl.jit.incore
def operand_to_the_peer(
    a: pl.Tensor[[32, W], pl.FP16],
    data: pld.DistributedTensor[[32, W], pl.FP16],
    cells: pld.DistributedTensor[[1, 1], pl.INT32],
):
    peer = 1 - pld.rank(pld.get_comm_ctx(data))
    pld.tile.remote_store(pl.load(a, [0, 0], [32, W]), data, peer=peer, offsets=[0, 0])
    pld.system.notify(cells, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)
    return data


@pl.jit.host
def products(
    a: pl.Tensor[[2, 32, W], pl.FP16],
    b: pl.Tensor[[2, W, 32], pl.FP16],
    y: pl.Out[pl.Tensor[[2, 32, 32], pl.FP32]],
    z: pl.Out[pl.Tensor[[2, 32, 32], pl.FP32]],
):
    memory, signals = pld.alloc_window_buffer([32, 32], dtype=pl.FP32), pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    operands, ready = pld.alloc_window_buffer([32, W], dtype=pl.FP16), pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        data, cells = pld.window(memory, [32, 32], dtype=pl.FP32), pld.window(signals, [1, 1], dtype=pl.INT32)
        factor, here = pld.window(operands, [32, W], dtype=pl.FP16), pld.window(ready, [1, 1], dtype=pl.INT32)
        product_for_the_peer(a[r], b[r], data, cells, device=r)
        from_the_peer(y[r], data, cells, device=r)
        operand_to_the_peer(a[r], factor, here, device=r)
        product_of_the_peers(b[r], z[r], factor, here, device=r)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("mode", MODES)
def test_notify_and_wait_of_the_cube_core(mode, platform):
    a, b = numbers(2, 32, W).astype(np.float16), numbers(2, W, 32, seed=1).astype(np.float16)
    y, z = np.zeros((2, 32, 32), np.float32), np.zeros((2, 32, 32), np.float32)
    products(a, b, y, z, config=on(2, mode, platform))
    wide, factor = a.astype(np.float64), b.astype(np.float64)
    np.testing.assert_allclose(y, (wide @ factor)[::-1], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(z, wide[::-1] @ factor, rtol=1e-4, atol=1e-4)

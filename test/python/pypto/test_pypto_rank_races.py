"""Programs of several ranks in checked mode: what signals order is clean, a missing wait is reported. Expectations are
numpy's."""

import numpy as np
import pytest
from pto_mlir.runtime import RuntimeFailure
from pypto.ir.distributed_compiled_program import DistributedConfig
from pypto.language.parser.diagnostics import ErrorRenderer
from pypto.runtime import RunConfig
from source_file import imported

RANKS, ROWS, W = 3, 6, 40
TEXT = """\
import pypto.language as pl
import pypto.language.distributed as pld

W = 40


@pl.jit.incore
def kernel(
    x: pl.Tensor[[6, W], pl.FP32],
    y: pl.Out[pl.Tensor[[6, W], pl.FP32]],
    data: pld.DistributedTensor[[6, W], pl.FP32],
    cells: pld.DistributedTensor[[8, 2], pl.INT32],
    sent: pl.Out[pl.Tensor[[8, 1], pl.INT32]],
    received: pld.DistributedTensor[[8, 1], pl.INT32],
):
    ctx = pld.get_comm_ctx(data)
    me, count = pld.rank(ctx), pld.nranks(ctx)
    for peer in pl.range(count):
        pl.write(sent, [peer, 0], 2)
    behind, before = (me + 1) % count, (me + count - 1) % count
{KERNEL}
    return pl.store(pl.load(data, [0, 0], [6, W]), [0, 0], y)


@pl.jit.incore
def gather(
    x: pl.Tensor[[2, W], pl.FP32],
    data: pld.DistributedTensor[[6, W], pl.FP32],
    cells: pld.DistributedTensor[[8, 2], pl.INT32],
):
    return pld.tensor.allgather(x, data, cells)


@pl.jit.incore
def fill(x: pl.Tensor[[6, W], pl.FP32], data: pl.InOut[pld.DistributedTensor[[6, W], pl.FP32]]):
    return pl.store(pl.load(x, [0, 0], [6, W]), [0, 0], data)


@pl.jit.incore
def take(y: pl.Out[pl.Tensor[[6, W], pl.FP32]], data: pld.DistributedTensor[[6, W], pl.FP32]):
    return pl.store(pl.load(data, [0, 0], [6, W]), [0, 0], y)


@pl.jit.host
def main(x: pl.Tensor[[3, 6, W], pl.FP32], y: pl.Out[pl.Tensor[[3, 6, W], pl.FP32]]):
    memory = pld.alloc_window_buffer([6, W], dtype=pl.FP32)
    signals = pld.alloc_window_buffer([8, 2], dtype=pl.INT32)
    numbers = pld.alloc_window_buffer([8, 1], dtype=pl.INT32)
    sent = pl.create_tensor([3, 8, 1], dtype=pl.INT32)
{HOST}
"""
KERNELS = """\
for r in pl.range(pld.world_size()):
    data, cells = pld.window(memory, [6, W], dtype=pl.FP32), pld.window(signals, [8, 2], dtype=pl.INT32)
    kernel(x[r], y[r], data, cells, sent[r], pld.window(numbers, [8, 1], dtype=pl.INT32), device=r)
"""
FILL = "data = pl.store(pl.load(x, [0, 0], [6, W]), [0, 0], data)"
BARRIER = "cells = pld.tensor.barrier(cells)"


def indented(lines, depth):
    return "\n".join(" " * depth + line for line in lines)


def program(kernel, host=KERNELS):
    return TEXT.format(KERNEL=indented(kernel, 4), HOST=indented(host.splitlines(), 4))


def loaded(monkeypatch, folder, text):
    return imported(monkeypatch, folder / "ranks.py", text).main


def config(mode, platform="a2a3sim"):
    devices = DistributedConfig(device_ids=list(range(RANKS)))
    return RunConfig(mode=mode, platform=platform, distributed_config=devices)


def inputs():
    return np.random.default_rng(7).standard_normal((RANKS, ROWS, W)).astype(np.float32)


def reduced(by):
    return lambda x: np.broadcast_to(by(x.astype(np.float64), 0), x.shape)


def scattered(x):
    y = x.copy().reshape(RANKS, RANKS, -1)
    for rank in range(RANKS):
        y[rank, rank] = x.reshape(RANKS, RANKS, -1)[:, rank].astype(np.float64).sum(0)
    return y.reshape(x.shape)


def exchanged(x):
    return x.reshape(RANKS, RANKS, -1).transpose(1, 0, 2).reshape(x.shape)


def part_of_first(x):
    """The first part of each rank's tensor is gathered by all."""
    return np.broadcast_to(x[:, : ROWS // RANKS].reshape(ROWS, W), x.shape)


KERNEL_LEVEL = {
    "allreduce": ([FILL, "data = pld.tensor.allreduce(data, cells)"], reduced(np.sum)),
    "allreduce, ring": ([FILL, 'data = pld.tensor.allreduce(data, cells, mode="ring")'], reduced(np.sum)),
    "allreduce, max": ([FILL, "data = pld.tensor.allreduce(data, cells, op=pld.ReduceOp.Max)"], reduced(np.max)),
    "allreduce, cores": ([FILL, "data = pld.tensor.allreduce(data, cells, core_num=2)"], reduced(np.sum)),
    "broadcast": (
        [FILL, BARRIER, "data = pld.tensor.broadcast(data, cells, root=1)"],
        lambda x: np.broadcast_to(x[1], x.shape),
    ),
    "reduce_scatter": ([FILL, "data = pld.tensor.reduce_scatter(data, cells, op=pld.ReduceOp.Sum)"], scattered),
    "all_to_all": (["data = pld.tensor.all_to_all(x, data, cells)"], exchanged),
    "all_to_all_v": (
        ["data = pld.tensor.all_to_all_v(x, data, cells, sent, received)"],
        exchanged,
    ),
    "barrier": (
        [
            FILL,
            BARRIER,
            "t = pld.tile.remote_load(data, peer=behind, offsets=[0, 0], shape=[6, W])",
            BARRIER,
            "data = pl.store(t, [0, 0], data)",
        ],
        lambda x: np.roll(x, -1, 0),
    ),
    "remote_store": (
        ["pld.tile.remote_store(pl.load(x, [0, 0], [6, W]), data, peer=behind, offsets=[0, 0])", BARRIER],
        lambda x: np.roll(x, 1, 0),
    ),
    "put": (["pld.tensor.put(data, peer=behind, src=x, chunk_rows=2)", BARRIER], lambda x: np.roll(x, 1, 0)),
    "put, added": (
        [
            "for peer in pl.range(count):",
            "    pld.tensor.put(data, peer=peer, src=x, atomic=pld.AtomicType.Add)",
            BARRIER,
        ],
        reduced(np.sum),
    ),
    "get": (
        [
            FILL,
            BARRIER,
            "pld.tensor.get(y, peer=behind, src=data)",
            BARRIER,
            "data = pl.store(pl.load(y, [0, 0], [6, W]), [0, 0], data)",
        ],
        lambda x: np.roll(x, -1, 0),
    ),
    "notify and wait": (
        [
            "pld.tensor.put(data, peer=behind, src=x)",
            "pld.system.notify(cells, peer=behind, offsets=[0, 0], value=me + 1, op=pld.NotifyOp.Set)",
            "pld.system.wait(cells, offsets=[0, 0], expected=before + 1, cmp=pld.WaitCmp.Eq)",
        ],
        lambda x: np.roll(x, 1, 0),
    ),
    "a count of notifications": (
        [
            "for peer in pl.range(count):",
            "    pld.tensor.put(data, peer=peer, src=x, shape=[2, W], dst_offsets=[me * 2, 0])",
            "    pld.system.notify(cells, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)",
            "pld.system.wait(cells, offsets=[0, 0], expected=count, cmp=pld.WaitCmp.Ge)",
        ],
        part_of_first,
    ),
}


def runs(monkeypatch, folder, text, platform="a2a3sim"):
    """The results in checked mode, which are those of functional mode."""
    main, x, results = loaded(monkeypatch, folder, text), inputs(), []
    for mode in ("functional", "checked"):
        results.append(np.zeros_like(x))
        for _ in range(2):
            main(x, results[-1], config=config(mode, platform))
    assert results[0].tobytes() == results[1].tobytes()
    return x, results[1]


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
@pytest.mark.parametrize("name", KERNEL_LEVEL)
def test_what_signals_order_is_clean(name, platform, monkeypatch, tmp_path):
    body, expected = KERNEL_LEVEL[name]
    x, y = runs(monkeypatch, tmp_path, program(body), platform)
    np.testing.assert_allclose(y, expected(x), rtol=1e-5, atol=1e-6)


def host(*between, fills=True, cells="[8, 2]"):
    """A host level that fills a window, does something with it, and takes it."""
    return f"""\
data, cells = pld.window(memory, [6, W], dtype=pl.FP32), pld.window(signals, {cells}, dtype=pl.INT32)
for r in pl.range(pld.world_size()):
    {"fill(x[r], data, device=r)" if fills else "pass"}
{chr(10).join(between)}
for r in pl.range(pld.world_size()):
    take(y[r], data, device=r)
"""


HOST_LEVEL = {
    "allreduce": (host("data = pld.tensor.allreduce(data, cells)"), reduced(np.sum)),
    "allreduce without a signal": (host("data = pld.tensor.allreduce(data)"), reduced(np.sum)),
    "allreduce, ring": (host('data = pld.tensor.allreduce(data, mode="ring")'), reduced(np.sum)),
    "broadcast": (
        host("data = pld.tensor.broadcast(data, cells, root=2)"),
        lambda x: np.broadcast_to(x[2], x.shape),
    ),
    "reduce_scatter": (host("data = pld.tensor.reduce_scatter(data, cells)"), scattered),
    "allgather": (
        host("for r in pl.range(pld.world_size()):", "    gather(x[r, 0:2, 0:W], data, cells, device=r)", fills=False),
        part_of_first,
    ),
}


@pytest.mark.parametrize("name", HOST_LEVEL)
def test_collectives_of_the_host_level_are_clean(name, monkeypatch, tmp_path):
    body, expected = HOST_LEVEL[name]
    x, y = runs(monkeypatch, tmp_path, program(["pass"], body))
    np.testing.assert_allclose(y, expected(x), rtol=1e-5, atol=1e-6)


# Statements, the line that is deleted, the line of the later access, and of the earlier one: rank, line.
DELETED = {
    "the barrier in front of a load": ("barrier", 1, FILL, (0, "t = pld.tile.remote_load")),
    "the barrier behind a load": ("barrier", 3, "data = pl.store(t", (2, "t = pld.tile.remote_load")),
    "the barrier behind a store": ("remote_store", 1, "return pl.store(pl.load(data", (0, "pld.tile.remote_store")),
    "the barrier behind a put": ("put", 1, "return pl.store(pl.load(data", (0, "pld.tensor.put")),
    "the barrier behind additions": ("put, added", 2, "pld.tensor.put", (0, "return pl.store(pl.load(data")),
    "the barrier in front of a get": ("get", 1, FILL, (0, "pld.tensor.get")),
    "the wait": ("notify and wait", 2, "return pl.store(pl.load(data", (0, "pld.tensor.put")),
    "the wait for all": ("a count of notifications", 3, "pld.tensor.put", (0, "return pl.store(pl.load(data")),
}


def line_of(text, statement):
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(statement))


@pytest.mark.parametrize("name", DELETED)
def test_a_race_where_a_line_was_deleted(name, monkeypatch, tmp_path):
    whole, deleted, later, (rank, earlier) = DELETED[name]
    lines = KERNEL_LEVEL[whole][0]
    text = program(lines[:deleted] + lines[deleted + 1 :])
    main, x = loaded(monkeypatch, tmp_path, text), inputs()
    main(x, np.zeros_like(x), config=config("functional"))
    with pytest.raises(RuntimeFailure) as caught:
        main(x, np.zeros_like(x), config=config("checked"))
    said = str(caught.value)
    assert "race: rank " in said and f"which rank {rank}, kernel 'kernel', AIV0.0 " in said, said
    assert "of argument 2 (data)" in said and f"at ranks.py:{line_of(text, earlier)}:" in said, said
    shown = ErrorRenderer().render(caught.value).splitlines()
    assert shown[1].startswith(f"  --> {tmp_path}/ranks.py:{line_of(text, later)}:"), shown
    assert "let the rank that comes first notify the other" in said


def test_one_of_two_notifications_orders_nothing(monkeypatch, tmp_path):
    """A wait that either of two ranks satisfies is behind neither, though here both came first."""
    lines = list(KERNEL_LEVEL["a count of notifications"][0])
    lines[3] = lines[3].replace("expected=count", "expected=1")
    main, x = loaded(monkeypatch, tmp_path, program(lines)), inputs()
    with pytest.raises(RuntimeFailure, match="race: rank 1: MTE3 .* of argument 2 .*, which rank 0, kernel 'kernel'"):
        main(x, np.zeros_like(x), config=config("checked"))


def test_engines_of_one_rank_are_checked_too(monkeypatch, tmp_path):
    """What a kernel reads beside its window is checked as for one device."""
    lines = ["t = pl.create_tile([6, W], dtype=pl.FP32)", "data = pl.store(t, [0, 0], data)"]
    main, x = loaded(monkeypatch, tmp_path, program(lines)), inputs()
    with pytest.raises(RuntimeFailure, match="uninitialised: rank 0: MTE3 .*, which nothing has written"):
        main(x, np.zeros_like(x), config=config("checked"))

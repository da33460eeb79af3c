"""Records of runs on several ranks in timing mode: times of launches, folders of dispatches, benchmarks."""

import json

import numpy as np
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from pto_mlir.runtime import InferenceSession
from pypto.ir.distributed_compiled_program import DistributedConfig
from pypto.runtime import RunConfig, benchmark

RANKS, W = 3, 64


@pl.jit.incore
def long_one(x: pl.Tensor[[8, W], pl.FP32], y: pl.Out[pl.Tensor[[8, W], pl.FP32]], turns: pl.Scalar[pl.INT32]):
    t = pl.load(x, [0, 0], [8, W])
    for _ in pl.range(turns):
        t = pl.add(t, 1.0)
    return pl.store(t, [0, 0], y)


@pl.jit.incore
def meeting(y: pl.InOut[pl.Tensor[[8, W], pl.FP32]], cells: pld.DistributedTensor[[8, 1], pl.INT32]):
    cells = pld.tensor.barrier(cells)
    return pl.store(pl.mul(pl.load(y, [0, 0], [8, W]), 2.0), [0, 0], y)


@pl.jit
def device(
    x: pl.Tensor[[8, W], pl.FP32],
    y: pl.Out[pl.Tensor[[8, W], pl.FP32]],
    turns: pl.Scalar[pl.INT32],
    cells: pld.DistributedTensor[[8, 1], pl.INT32],
):
    y = long_one(x, y, turns)
    return meeting(y, cells)


@pl.jit.host
def main(
    x: pl.Tensor[[3, 8, W], pl.FP32], y: pl.Out[pl.Tensor[[3, 8, W], pl.FP32]], z: pl.Out[pl.Tensor[[8, W], pl.FP32]]
):
    signals = pld.alloc_window_buffer([8, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        device(x[r], y[r], r * 400, pld.window(signals, [8, 1], dtype=pl.INT32), device=r)
    long_one(x[0], z, 3, device=1)


def arguments():
    x = np.random.default_rng(3).standard_normal((RANKS, 8, W)).astype(np.float32)
    return x, np.zeros_like(x), np.zeros_like(x[0])


def config(**more):
    return RunConfig(distributed_config=DistributedConfig(device_ids=list(range(RANKS))), **more)


def recorded(folder, **more):
    x, y, z = arguments()
    main(x, y, z, config=config(save_kernels_dir=folder, **more))
    expected = 2 * (x + 400 * np.arange(RANKS, dtype=np.float32)[:, None, None])
    np.testing.assert_allclose(y, expected, rtol=1e-5)
    np.testing.assert_allclose(z, x[0] + 3, rtol=1e-6)
    return folder / "dfx_outputs"


def tasks(folder):
    return json.loads((folder / "chip_swimlane_records.json").read_text())["tasks"]


def test_a_rank_waits_for_the_slowest_one(tmp_path):
    folder = recorded(tmp_path, enable_chip_swimlane=1)
    held = {rank: tasks(folder / f"rank{rank}" / "d0") for rank in range(RANKS)}
    assert all([each["name"] for each in part] == ["long_one", "meeting"] for part in held.values())
    works = [part[0]["duration_us"] for part in held.values()]
    assert works[0] < works[1] < works[2]
    ends = [part[1]["end_time_us"] for part in held.values()]
    # All leave the barrier together, when the slowest one has come; so the others' launches take as much longer.
    assert max(ends) - min(ends) < 0.1 * (works[2] - works[0])
    assert held[0][1]["duration_us"] > works[2] - works[0]
    assert held[2][1]["duration_us"] < held[1][1]["duration_us"] < held[0][1]["duration_us"]
    for part in held.values():
        assert part[0]["fanout"] == [part[1]["task_id"]] and part[1]["fanout"] == []
        assert part[1]["start_time_us"] == pytest.approx(part[0]["end_time_us"], abs=0.002)
        assert {each["core_type"] for each in part} == {"aiv"}


def test_each_dispatch_has_a_folder(tmp_path):
    folder = recorded(tmp_path, enable_chip_swimlane=1, enable_dep_gen=True, enable_scope_stats=True, enable_pmu=2)
    found = sorted(str(each.relative_to(folder)) for each in folder.glob("rank*/d*"))
    assert found == ["rank0/d0", "rank1/d0", "rank1/d1", "rank2/d0"]
    for each in found:
        deps = json.loads((folder / each / "deps.json").read_text())
        assert len(deps["tasks"]) == (1 if each.endswith("d1") else 2)
        assert (folder / each / "scope_stats" / "scope_stats.jsonl").stat().st_size > 0
        (merged,) = (folder / each).glob("merged_swimlane_*.json")
        spans = [event for event in json.loads(merged.read_text())["traceEvents"] if event["ph"] == "X"]
        assert any(event["name"].startswith("long_one") for event in spans)
    whole = json.loads((folder / "merged_swimlane.json").read_text())["traceEvents"]
    names = {event["args"]["name"] for event in whole if event["name"] == "thread_name"}
    assert {"VECTOR of rank 0", "VECTOR of rank 2", "CUBE of rank 1"} <= names
    assert "long_one" in (folder / "pmu.csv").read_text()


# --- arguments of tasks ----------------------------------------------------------------------------


def dumped(folder):
    """The entries of a manifest, each with its `elements`."""
    manifest = json.loads((folder / "args_dump" / "args_dump.json").read_text())
    data = (folder / "args_dump" / manifest["bin_file"]).read_bytes()
    for each in manifest["args"]:
        part = data[each["bin_offset"] : each["bin_offset"] + each["bin_size"]]
        each["elements"] = np.frombuffer(part, each["dtype"]).reshape(each["shape"])
    return manifest["args"]


def test_arguments_of_tasks_that_wait_for_each_other(tmp_path):
    folder = recorded(tmp_path, enable_dump_args=2)
    x = arguments()[0]
    for rank in range(RANKS):
        held = dumped(folder / f"rank{rank}" / "d0")
        assert [(each["kernel"], each["arg_name"], each["role"], each["stage"]) for each in held] == [
            ("long_one", "x", "input", "before_dispatch"),
            ("long_one", "y", "output", "after_completion"),
            ("meeting", "y", "inout", "before_dispatch"),
            ("meeting", "cells", "inout", "before_dispatch"),
            ("meeting", "y", "inout", "after_completion"),
            ("meeting", "cells", "inout", "after_completion"),
        ]
        np.testing.assert_array_equal(held[0]["elements"], x[rank])
        raised = x[rank] + np.float32(400 * rank)
        for each, factor in ((held[1], 1), (held[2], 1), (held[4], 2)):
            np.testing.assert_allclose(each["elements"], factor * raised, rtol=1e-5)
    other = dumped(folder / "rank1" / "d1")
    np.testing.assert_array_equal(other[0]["elements"], x[0])
    np.testing.assert_allclose(other[1]["elements"], x[0] + 3, rtol=1e-6)
    assert not (folder / "rank0" / "d1").exists()


@pl.jit.incore
def give(
    x: pl.Tensor[[1, W], pl.FP32],
    data: pl.InOut[pld.DistributedTensor[[1, W], pl.FP32]],
    cells: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
    peer: pl.Scalar[pl.INT32],
):
    pld.tile.remote_store(pl.load(x, [0, 0], [1, W]), data, peer=peer, offsets=[0, 0])
    pld.system.notify(target=cells, peer=peer, offsets=[0, 0], value=peer + 5, op=pld.NotifyOp.Set)
    pld.system.wait(signal=cells, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    return data


@pl.jit.incore
def take(
    data: pld.DistributedTensor[[1, W], pl.FP32],
    cells: pld.DistributedTensor[[1, 1], pl.INT32],
    y: pl.Out[pl.Tensor[[1, W], pl.FP32]],
):
    told = pl.cast(pl.read(cells, [0, 0]), target_type=pl.FP32)
    return pl.store(pl.mul(pl.load(data, [0, 0], [1, W]), told), [0, 0], y)


@pl.jit
def both(
    x: pl.Tensor[[1, W], pl.FP32],
    y: pl.Out[pl.Tensor[[1, W], pl.FP32]],
    data: pl.InOut[pld.DistributedTensor[[1, W], pl.FP32]],
    cells: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
    peer: pl.Scalar[pl.INT32],
):
    data = give(x, data, cells, peer)
    pl.dump_tag(data)
    return take(data, cells, y)


@pl.jit.host
def swapped(x: pl.Tensor[[3, 1, W], pl.FP32], y: pl.Out[pl.Tensor[[3, 1, W], pl.FP32]]):
    memory, signals = pld.alloc_window_buffer([1, W], dtype=pl.FP32), pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        data, cells = pld.window(memory, [1, W], dtype=pl.FP32), pld.window(signals, [1, 1], dtype=pl.INT32)
        both(x[r], y[r], data, cells, (r + 1) % pld.world_size(), device=r)


@pytest.mark.parametrize("level", [1, 2])
def test_a_window_is_the_copy_of_the_rank(tmp_path, level):
    x = np.random.default_rng(4).standard_normal((RANKS, 1, W)).astype(np.float32)
    y = np.zeros_like(x)
    # Also what is timed: that has memory of its own.
    timed = {"enable_chip_swimlane": 1} if level == 2 else {}
    swapped(x, y, config=config(save_kernels_dir=tmp_path, enable_dump_args=level, **timed))
    told = np.arange(5, 5 + RANKS, dtype=np.float32)[:, None, None]
    np.testing.assert_allclose(y, np.roll(x, 1, axis=0) * told, rtol=1e-6)
    for rank in range(RANKS):
        folder = tmp_path / "dfx_outputs" / f"rank{rank}" / "d0"
        held = dumped(folder)
        if level == 1:
            assert [(each["kernel"], each["arg_name"], each["stage"]) for each in held] == [
                ("take", "data", "before_dispatch")
            ]
            np.testing.assert_array_equal(held[0]["elements"], x[rank - 1])
            continue
        found = {(each["kernel"], each["arg_name"], each["stage"]): each["elements"] for each in held}
        np.testing.assert_array_equal(found["give", "x", "before_dispatch"], x[rank])
        np.testing.assert_array_equal(found["take", "data", "before_dispatch"], x[rank - 1])
        assert found["take", "cells", "before_dispatch"].tolist() == [[5 + rank]]
        np.testing.assert_allclose(found["take", "y", "after_completion"], x[rank - 1] * told[rank], rtol=1e-6)
        assert (folder / "chip_swimlane_records.json").is_file()


@pl.jit.incore
def put(x: pl.Tensor[[1, W], pl.FP32], data: pl.InOut[pld.DistributedTensor[[1, W], pl.FP32]]):
    return pl.store(pl.load(x, [0, 0], [1, W]), [0, 0], data)


@pl.jit.incore
def take_all(data: pld.DistributedTensor[[3, W], pl.FP32], y: pl.Out[pl.Tensor[[3, W], pl.FP32]]):
    return pl.store(pl.load(data, [0, 0], [3, W]), [0, 0], y)


@pl.jit.host
def gathered_sums(x: pl.Tensor[[3, 1, W], pl.FP32], y: pl.Out[pl.Tensor[[3, 3, W], pl.FP32]]):
    memory, signals = pld.alloc_window_buffer([1, W], dtype=pl.FP32), pld.alloc_window_buffer([3, 1], dtype=pl.INT32)
    of_all = pld.alloc_window_buffer([3, W], dtype=pl.FP32)
    data, cells = pld.window(memory, [1, W], dtype=pl.FP32), pld.window(signals, [3, 1], dtype=pl.INT32)
    target = pld.window(of_all, [3, W], dtype=pl.FP32)
    for r in pl.range(pld.world_size()):
        put(x[r], data, device=r)
    data = pld.tensor.allreduce(data, cells)
    target = pld.tensor.allgather(data, target, cells)
    for r in pl.range(pld.world_size()):
        take_all(target, y[r], device=r)


def test_what_collectives_read_and_write(tmp_path):
    """A target is read where it is all that a collective has, and only written where there is another tensor."""
    x = np.random.default_rng(6).standard_normal((RANKS, 1, W)).astype(np.float32)
    y = np.zeros((RANKS, RANKS, W), np.float32)
    gathered_sums(x, y, config=config(save_kernels_dir=tmp_path, enable_dump_args=2))
    np.testing.assert_allclose(y, np.broadcast_to(x.sum(axis=0), y.shape), rtol=1e-5)
    held = [each for number in (1, 2) for each in dumped(tmp_path / "dfx_outputs" / "rank1" / f"d{number}")]
    assert {(each["kernel"], each["arg_name"], each["role"]) for each in held} == {
        ("allreduce", "target", "inout"),
        ("allreduce", "signal", "inout"),
        ("allgather", "local", "input"),
        ("allgather", "target", "output"),
        ("allgather", "signal", "inout"),
    }


def test_an_error_of_the_one_who_watches_is_raised():
    x = np.ones((RANKS, 1, W), np.float32)
    y, seen = np.zeros_like(x), []

    def watch(launch, ended, parts):
        seen.append((launch, ended, [len(each) for each in parts]))
        if len(seen) == 2:
            raise OSError("no space")

    compiled = swapped.compile(x, y, config=config())
    compiled._session.watch_launches(watch)
    with pytest.raises(OSError, match="no space"):
        compiled(x, y)
    assert seen[0][:2] == (0, False) and len(seen) == 2
    compiled._session.watch_launches(None)
    compiled(x, y)
    np.testing.assert_array_equal(y, np.broadcast_to(np.arange(5, 8)[:, None, None], y.shape))
    assert len(seen) == 2


def test_the_report_of_a_saved_program(tmp_path):
    x, y, z = arguments()
    compiled = main.compile(x, y, z, config=config())
    file = tmp_path / "k.pmodel"
    file.write_bytes(compiled.pmodel)
    session = InferenceSession(file, mode="timing", trace=True)
    session.run_in_place({"x": x, "y": y, "z": z})
    report = session.trace_report()
    assert report.startswith("makespan ") and all(f"rank {rank}   ends at " in report for rank in range(RANKS))
    text = []
    for name in ("a.json", "b.json"):
        session.run_in_place({"x": x, "y": y, "z": z})
        session.write_trace(tmp_path / name)
        text.append((tmp_path / name).read_text())
    assert text[0] == text[1]


def test_times_of_the_engines_name_the_rank(tmp_path):
    x, y, z = arguments()
    compiled = main.compile(x, y, z, config=config())
    file = tmp_path / "k.pmodel"
    file.write_bytes(compiled.pmodel)
    session = InferenceSession(file, mode=f"timing:{tmp_path}/engines.json")
    session.run_in_place({"x": x, "y": y, "z": z})
    del session
    events = json.loads((tmp_path / "engines.json").read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    assert {"rank 0 AIV0.0", "rank 2 AIV0.0", "rank 1 device"} <= {
        each["args"]["name"] for each in events if each["name"] == "process_name"
    }
    assert any("test_pypto_rank_records.py" in each.get("args", {}).get("source", "") for each in events)


def test_a_benchmark_has_times_of_each_rank():
    x, y, z = arguments()
    stats = benchmark(main.compile(x, y, z, config=config()), [x, y, z], rounds=3, warmup=1)
    ranks, wall = stats.per_rank("device"), stats.device_wall_us
    assert sorted(ranks) == [0, 1, 2] and len(wall) == 3 and not stats.all_zero_device
    assert wall == [max(each[turn] for each in ranks.values()) for turn in range(3)] == stats.per_round("device")
    slots = stats.per_dispatch("device")
    assert sorted(slots) == [(0, 0), (1, 0), (1, 1), (2, 0)]
    assert ranks[1] == pytest.approx([a + b for a, b in zip(slots[1, 0], slots[1, 1], strict=True)])
    assert all(a >= b for a, b in zip(stats.per_round("union"), wall, strict=True))
    assert all(0 < each[0] <= ranks[rank][0] + 1e-6 for rank, each in stats.per_rank("effective").items())
    assert stats.format_mean_tree(pid=1, slot=1).startswith("pid=1 slot=1")
    with pytest.raises(ValueError, match="expects one of device, host, effective"):
        stats.per_rank("nothing")

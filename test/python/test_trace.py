"""Traces against the rules of the trace-event format that Perfetto and chrome://tracing read: every field that an event
of its phase must have, spans of a track that nest, flows that begin and end inside spans, numbers in counters, a name
for every track."""

import json
from collections import defaultdict

import numpy as np
import pytest
from pto_mlir import npz
from pto_mlir.tools import model_deploy, model_runner, model_transform
from pto_runtime import CoreType, DeviceError, DeviceRunner, Graph

REQUIRED = {
    "X": {"ts", "dur"},
    "M": {"args"},
    "C": {"ts", "args"},
    "i": {"ts", "s"},
    "s": {"ts", "id", "cat"},
    "f": {"ts", "id", "cat", "bp"},
}


def check(path):
    """The events of a trace, checked for well-formedness, and the names of its tracks by (pid, tid)."""
    document = json.loads(path.read_text())
    events = document["traceEvents"]
    tracks, processes = {}, set()
    spans, flows = defaultdict(list), defaultdict(dict)
    for event in events:
        phase = event["ph"]
        assert REQUIRED[phase] | {"name", "pid", "tid"} <= event.keys(), event
        assert isinstance(event["name"], str) and isinstance(event["pid"], int) and isinstance(event["tid"], int), event
        track = event["pid"], event["tid"]
        if phase != "M":
            assert isinstance(event["ts"], (int, float)) and event["ts"] >= 0, event
        if phase == "X":
            assert event["dur"] >= 0, event
            spans[track].append((round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000), event["name"]))
        elif phase == "M" and event["name"] == "thread_name":
            tracks[track] = event["args"]["name"]
        elif phase == "M" and event["name"] == "process_name":
            processes.add(event["pid"])
        elif phase == "C":
            assert event["args"] and all(
                isinstance(value, (int, float)) and value >= 0 for value in event["args"].values()
            ), event
        elif phase == "i":
            assert event["s"] in ("g", "p", "t"), event
        elif phase in "sf":
            assert phase not in flows[event["id"]], event
            flows[event["id"]][phase] = event
    for track, rows in spans.items():
        assert track in tracks and track[0] in processes, f"track {track} has no name"
        open_until = []
        for begin, end, name in sorted(rows, key=lambda row: (row[0], -row[1])):
            while open_until and open_until[-1][0] <= begin:
                open_until.pop()
            assert not open_until or end <= open_until[-1][0], (
                f"{tracks[track]}: {name} ends after {open_until[-1][1]}, in which it begins"
            )
            open_until.append((end, name))
    for number, flow in flows.items():
        assert flow.keys() == {"s", "f"}, f"flow {number} has one end"
        assert flow["s"]["ts"] <= flow["f"]["ts"] and flow["f"]["bp"] == "e"
        for event in flow.values():
            time = round(event["ts"] * 1000)
            assert any(begin <= time <= end for begin, end, _ in spans[event["pid"], event["tid"]]), (
                f"flow {number} ends in no span"
            )
    return events, tracks


def names(events, phase):
    return {event["name"] for event in events if event["ph"] == phase}


@pytest.mark.parametrize("virtual", [False, True], ids=["threads", "virtual"])
def test_tasks_of_all_kinds(tmp_path, virtual):
    """Blocks, a failure with its dependants, back-pressure, more tasks than slots."""
    runner = DeviceRunner()
    runner.init(cube=2, vector=3, ai_cpu=1, window=8, virtual_time=virtual, trace=True)

    def broken():
        raise ValueError("on purpose")

    work, bad = (
        runner.register_kernel(lambda **_: None, name="work", cost_ns=3000),
        runner.register_kernel(broken, name="bad"),
    )
    graph, last = Graph("mixed"), []
    for i in range(60):
        task = graph.add_task([], work, list(CoreType)[i % 3], name=f"task {i}", blocks=1 + 2 * (i % 3 == 1))
        for earlier in last[-2:]:
            graph.add_successor(earlier, task)
        last.append(task)
    assert runner.run(graph) == 0
    runner.write_trace(tmp_path / "t.json")
    events, tracks = check(tmp_path / "t.json")
    assert {"orchestrator", "scheduler 0", "CUBE 0", "CUBE 1", "VECTOR 0", "VECTOR 1", "VECTOR 2", "AI_CPU 0"} <= set(
        tracks.values()
    )
    assert {f"task {i}" for i in range(60)} | {f"submit task {i}" for i in range(60)} <= names(events, "X")
    assert {"ready CUBE", "ready VECTOR"} <= names(events, "C") and "dispatch task 7" in names(events, "i")
    assert sum(event["ph"] == "s" for event in events) == 1 + 2 * 58
    assert "blocked: no room" in names(events, "X")

    failing = Graph("failing")
    first = failing.add_task([], bad)
    failing.add_successor(first, failing.add_task([], work, name="never"))
    with pytest.raises(DeviceError, match="on purpose"):
        runner.run(failing)
    runner.write_trace(tmp_path / "t.json")
    events, _ = check(tmp_path / "t.json")
    assert sum(bool(event.get("args", {}).get("failed")) for event in events) == 2
    runner.finalize()


@pytest.mark.parametrize("mode", ["functional", "timing"])
def test_profile_of_a_model(command, tmp_path, awkward, mode):
    npz.save(tmp_path / "in.npz", {"x": np.random.default_rng(8).standard_normal((3, 3, 13, 29)).astype(np.float32)})
    assert command(model_transform, "--model_name", "m", "--model_def", awkward, "--mlir", tmp_path / "m.mlir")[0] == 0
    assert (
        command(model_deploy, "--mlir", tmp_path / "m.mlir", "--model", tmp_path / "m.pmodel", "--num_core", "2")[0]
        == 0
    )
    code, out, err = command(
        model_runner,
        "--model",
        tmp_path / "m.pmodel",
        "--input",
        tmp_path / "in.npz",
        "--output",
        tmp_path / "o.npz",
        "--mode",
        mode,
        "--profile",
        tmp_path / "t.json",
    )
    assert code == 0, err
    for word in ("makespan", "critical path", "longest on it:", "idle with ready work", "longest us"):
        assert word in out, out
    events, tracks = check(tmp_path / "t.json")
    assert {"orchestrator", "scheduler 0", "CUBE 0", "VECTOR 0", "VECTOR 1"} <= set(tracks.values())
    ran = {event["name"] for event in events if event["ph"] == "X" and "block" in event.get("args", {})}
    assert {"shifted", "logits", "y"} <= ran, ran  # tasks have the names of what they compute, ..
    kernels = {event["args"].get("kernel", "") for event in events if event["name"] == "y" and event["ph"] == "X"}
    assert any("y" in kernel for kernel in kernels), kernels  # .. and the kernel in an argument
    assert any(line.rstrip().endswith(" y") for line in out.splitlines()), out
    assert len(ran) >= 3 and {f"submit {name}" for name in ran} <= names(events, "X")
    assert any(event["ph"] == "s" for event in events) and any(event["ph"] == "C" for event in events)

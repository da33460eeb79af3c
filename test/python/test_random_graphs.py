"""Random graphs of one operator beside onnxruntime's numbers (regression/sweep.py); --full: thousands."""

import collections
import os

import numpy as np
import pytest
from pto_mlir import runtime

from regression import bounds, sweep

FULL = os.environ.get("PTO_MLIR_FULL_TESTS") == "1"
COUNT = 250 if FULL else 12


def _pool(op: str, shape: list[int], **attributes) -> sweep.Case:
    return sweep.Case(op, {"x": shape}, {}, {"pads": [0] * 2 * (len(shape) - 2), "ceil_mode": 0} | attributes)


def _taps() -> sweep.Case:
    weights = {"w": np.random.default_rng(1).uniform(-1, 1, (6, 46, 37, 13)).astype(np.float32)}
    attributes = {"strides": [1, 4], "dilations": [5, 1], "pads": [1, 3, 5, 1], "group": 1}
    return sweep.Case("Conv", {"x": [1, 46, 182, 13]}, weights, attributes)


def _gather() -> sweep.Case:
    return sweep.Case(
        "Gather",
        {},
        {},
        {"axis": 2},
        feeds={"x": np.float32(np.arange(222 * 5 * 8).reshape(222, 5, 8) % 61), "i": np.arange(32) % 16 - 8},
    )


def _sums(shape: list[int], axis: int, **attributes) -> sweep.Case:
    return sweep.Case("CumSum", {"x": shape}, {"axis": np.array(axis)}, attributes)


# What a sweep once found: refused, converted for ever, or a thousand times slower than its bytes.
FOUND = {
    "long window over ragged channels": _pool("AveragePool", [1, 60, 515], kernel_shape=[512], strides=[104]),
    "window of one element": _pool("MaxPool", [1, 5, 1, 11], kernel_shape=[1, 1], strides=[1, 1]),
    "one element of one channel": _pool("LpPool", [1, 1, 10], kernel_shape=[10], strides=[1]),
    "a long stride": _pool("MaxPool", [2, 3, 561], kernel_shape=[256], strides=[97], pads=[6, 2], ceil_mode=1),
    "a stride above the kernel": _pool("MaxPool", [2, 40, 3, 90], kernel_shape=[1, 34], strides=[1, 40]),
    "sums over a long row": _sums([3, 607], 1, exclusive=1),
    "sums over long columns, from the end": _sums([640, 2, 3], 0, reverse=1),
    "sums over a long vector": _sums([1024], 0, exclusive=1, reverse=1),
    "a gather of single elements": _gather(),
    "an odd number of many taps": _taps(),
}


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize(("mode", "processor", "cores"), [("F32", "a3", 24), ("F16", "a5", 1), ("F16", "a3", 1)])
def test_found(name, mode, processor, cores):
    row = sweep.check(FOUND[name], mode, processor, cores)
    assert row["result"] == "right", row
    assert row["took"] < 100 * row["bound"]


def test_a_fault_of_a_checked_run_is_wrong(monkeypatch):
    case = sweep.Case("Floor", {"x": [64, 64]})
    assert sweep.check(case, "F32", "a3", 24, True)["result"] == "right"

    def race(session, *_):
        raise runtime.RuntimeFailure("a race")

    monkeypatch.setattr(runtime.InferenceSession, "run", race)
    row = sweep.check(case, "F32", "a3", 24, True)
    assert (row["result"], row["reason"]) == ("wrong", "a race")
    assert sweep.check(case, "F32", "a3", 24)["result"] == "refused"


def test_costly(monkeypatch):
    row = sweep.check(sweep.Case("Floor", {"x": [64, 64]}), "F32", "a3", 24)
    assert row["result"] == "right" and 1 <= row["took"] / row["bound"] <= bounds.MOST, row
    monkeypatch.setattr(bounds, "MOST", 0.5)
    assert sweep.check(sweep.Case("Floor", {"x": [64, 64]}), "F32", "a3", 24)["result"] == "costly"


@pytest.mark.parametrize(
    "case",
    [
        # op, feed, weights, attributes, output: bytes read and written, multiplications
        ("MatMul", {"a": (8, 33, 40)}, {"b": (40, 20)}, {}, (8, 33, 20), (4 * 10560, 4 * 5280), 272 * 40 * 32),
        ("Conv", {"x": (1, 3, 9, 9)}, {"w": (5, 3, 2, 2)}, {"group": 1}, (1, 5, 8, 8), (4 * 243, 1280), 64 * 32 * 16),
        ("Slice", {"x": (1000, 10)}, {}, {}, (2, 10), (1024, 80), 0),
    ],
)
def test_work(case):
    op, feed, weights, attributes, out, (read, written), multiplications = case
    arrays = [{n: np.zeros(s, np.float32) for n, s in group.items()} for group in (feed, weights)]
    graph = sweep.Case(op, {n: list(s) for n, s in feed.items()}, arrays[1], attributes)
    work = bounds.work(graph, arrays[0], {"y": np.zeros(out, np.float32)}, "F32")
    assert work["bytes_written"] == written
    assert work["bytes_read"] == read + 4 * sum(w.size for w in arrays[1].values())
    assert work.get("multiplications", 0) == multiplications


@pytest.mark.parametrize("family", sweep.FAMILIES)
def test_family(family):
    rows = [sweep.guarded(task) for task in sweep.tasks([family], COUNT, seed=3)]
    bad = [f"{row['result']}: {row['text']}: {row['reason']}" for row in rows if row["result"] not in sweep.GOOD]
    assert not bad, "\n".join(bad)
    counts = collections.Counter(row["result"] for row in rows)
    assert counts["right"] >= 0.8 * COUNT, counts

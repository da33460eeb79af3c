"""Random graphs of many operators (test/random_graphs) beside onnxruntime and float64; --full: 20,000."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

sys.path.append(str(Path(__file__).resolve().parents[1]))
from random_graphs import check, generate, reducer, workers  # noqa: E402
from random_graphs.exact import Unusable, trace  # noqa: E402
from random_graphs.model import Graph  # noqa: E402

FULL = os.environ.get("PTO_MLIR_FULL_TESTS") == "1"
TARGET = check.Target("a3", 1, "F32")


def test_every_operator_is_drawn():
    """An operator that the importer gains needs a recipe, unless its schema is enough, or a reason in LEFT_OUT."""
    for op in generate.all_operators():
        assert op in {node.op_type for node in generate.one_of(op).nodes}


def test_a_seed_is_a_graph():
    first, again = (generate.generate(4).model().SerializeToString(deterministic=True) for _ in range(2))
    assert first == again


def _chain(*ops: str) -> Graph:
    names = ["x", *(f"v{i}" for i in range(len(ops)))]
    nodes = [helper.make_node(op, [a], [b], name=b) for op, a, b in zip(ops, names, names[1:])]
    return Graph(nodes, {"x": np.array([0.25, 3.5, -2], np.float32)}, {}, names[-1:], {n: 1 for n in names}, 21)


def test_near_a_discontinuity():
    """exp(0) is 1 but for an error; exactly 3.5 is as good as any other number."""
    trace(_chain("Round"), "F16")
    graph = _chain("Exp", "Floor")
    graph.inputs["x"] = np.zeros(3, np.float32)
    with pytest.raises(Unusable):
        trace(graph, "F16")


def test_a_wrong_number_is_found_and_reduced(monkeypatch):
    graph, real = _chain("Neg", "Exp", "Abs", "Sqrt", "Relu"), check.run

    def broken(candidate, target):
        """Where something computes an Exp, 2 % too much."""
        is_there = any(node.op_type == "Exp" for node in candidate.nodes)
        return {name: value * (1.02 if is_there else 1) for name, value in real(candidate, target).items()}

    monkeypatch.setattr(check, "run", broken)
    outcome = check.check(graph, [TARGET])
    assert outcome.status == "wrong" and "(Relu): 3 of 3 differ" in outcome.reason
    small = reducer.reduce(graph, outcome, [TARGET])
    assert [node.op_type for node in small.nodes] == ["Exp"]
    text = reducer.python_text(small, outcome, [TARGET])
    assert len(text.splitlines()) < 12
    printed = []
    exec(text, {"print": printed.append})
    assert printed[0].status == "wrong"


def test_crashes_and_time_outs():
    def work(task):
        if task == "dies":
            os._exit(3)
        while task == "hangs":
            pass
        return check.Outcome("right")

    made = dict(workers.each(["fine", "dies", "hangs", "fine too"], work, 2, 2))
    assert [made[task].status for task in ("fine", "dies", "hangs", "fine too")] == [
        "right",
        "crashed",
        "timed out",
        "right",
    ]

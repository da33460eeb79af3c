"""The regression command's account of tensors: compared, absorbed and listed make the whole, and a tensor in none of
the three fails the network."""

import numpy as np
import pytest
from conftest import save_model, weight
from onnx import helper, numpy_helper
from pto_mlir.reference import run_onnx

from regression import job

DESCRIPTION = """
title = "fused net"
source = "a test"
licence = "none"
maker = ["none.py"]
file = "fused.onnx"
modes = ["F32"]

[[inputs]]
name = "x"
shape = [2, 3, 12, 12]
kind = "normal"

[tolerance]
F32 = { tensors = 0.99999, outputs = 0.99999, max_error = 1e-4 }
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    """A network with something for each part: 'c' goes into the filters' scales, 'two' is a constant."""
    folder = tmp_path_factory.mktemp("account")
    (folder / "zoo").mkdir()
    rng = np.random.default_rng(0)
    nodes = [
        helper.make_node("Constant", [], ["two"], value=numpy_helper.from_array(np.float32(2))),
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("BatchNormalization", ["c", "g", "g", "g", "v"], ["n"]),
        helper.make_node("Mul", ["n", "two"], ["m"]),
        helper.make_node("Sigmoid", ["m"], ["y"]),
    ]
    weights = [
        weight(rng, "w", 5, 3, 3, 3),
        weight(rng, "g", 5),
        numpy_helper.from_array(np.full(5, 1.5, np.float32), "v"),
    ]
    save_model(folder / "zoo" / "fused.onnx", nodes, [("x", [2, 3, 12, 12])], [("y", [2, 5, 10, 10])], weights)
    (folder / "fused.toml").write_text(DESCRIPTION)
    result = {"description": str(folder / "fused.toml"), "cache": str(folder), "work": str(folder), "name": "fused"}
    result |= {"mode": "F32", "processor": "a3", "cores": 1, "threads": 1, "timing": 0.01, "float64": False}
    assert job.prepare(result)["status"] == "passed"
    return result


def test_the_parts_make_the_whole(spec):
    result = job.run_model(spec)
    assert result["status"] == "passed", result["problem"]
    where = result["account"]
    feed = {"x": np.zeros((2, 3, 12, 12), np.float32)}
    names = run_onnx(f"{spec['cache']}/zoo/fused.onnx", feed, all_tensors=True)
    compared = [row["name"] for row in result["tensors"]]
    assert sorted([*compared, *where["absorbed"], *where["listed"]]) == sorted(names)
    assert where["compared"] == len(compared) and where["lost"] == []
    assert "c" in where["absorbed"] and where["listed"]["two"] == "a constant"


def test_a_lost_tensor_fails_the_network(spec, monkeypatch):
    """A compiler that forgets what it folded."""
    names = job.absorbed_names
    monkeypatch.setattr(job, "absorbed_names", lambda session: names(session) - {"c"})
    result = job.run_model(spec)
    assert result["status"] == "failed" and result["account"]["lost"] == ["c"]
    assert result["problem"] == "1 named tensors neither compared, absorbed nor listed: c"


def test_a_kept_tensor_that_is_not_compared_fails_the_network(spec, monkeypatch):
    compare = job.compare
    monkeypatch.setattr(job, "compare", lambda ours, theirs: [row for row in compare(ours, theirs) if row.name != "y"])
    result = job.run_model(spec)
    assert result["status"] == "failed" and result["account"]["lost"] == ["y"]

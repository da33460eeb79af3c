"""Operators that draw random numbers: reproducible by their seed, others in each run, and of the distribution."""

import numpy as np
import onnx
import pytest
from graphs import B, F, I, info
from onnx import TensorProto, helper
from onnx.helper import make_node as node
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, RuntimeFailure

D, H = TensorProto.DOUBLE, TensorProto.FLOAT16
COUNT = 40_000


def build(path, nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "main", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path / "m.onnx")
    compiler.transform(str(path / "m.onnx"), "m", None, [], str(path / "m.mlir"), "")
    compiler.deploy(str(path / "m.mlir"), str(path / "m.pmodel"), "F32", "a3", 1, False)
    return InferenceSession(str(path / "m.pmodel"))


def test_a_seed_repeats_a_session(tmp_path):
    nodes = [
        node("RandomUniform", [], ["a"], shape=[50], seed=3.5),
        node("RandomUniform", [], ["b"], shape=[50], seed=3.5),
        node("RandomNormal", [], ["c"], shape=[50]),
    ]
    first = build(tmp_path, nodes, [], [info(name, F, [50]) for name in "abc"])
    second = InferenceSession(str(tmp_path / "m.pmodel"))
    runs = [[session.run(None, {}) for _ in range(2)] for session in (first, second)]
    for ours, theirs in zip(*runs, strict=True):
        np.testing.assert_array_equal(ours[:2], theirs[:2])
        assert (ours[2] != theirs[2]).all()  # without a seed, sessions differ
    for earlier, later in zip(*runs[0], strict=True):
        assert (earlier != later).all()
    assert (runs[0][0][0] != runs[0][0][1]).all()  # nodes differ by more than their seeds


@pytest.mark.parametrize("kind", [F, D, H])
def test_distributions(tmp_path, kind):
    nodes = [
        node("RandomUniformLike", ["x"], ["u"], low=-1.0, high=3.0, dtype=kind, seed=1.0),
        node("RandomNormalLike", ["x"], ["n"], mean=-2.0, scale=0.5, dtype=kind, seed=2.0),
    ]
    outputs = [info(name, kind, [COUNT]) for name in "un"]
    session = build(tmp_path, nodes, [info("x", F, [COUNT])], outputs)
    u, n = (made.astype(np.float64) for made in session.run(None, {"x": np.zeros(COUNT, np.float32)}))
    assert u.min() >= -1
    assert u.max() < 3 or kind == H  # f16 rounds up to 3
    assert abs(u.mean() - 1) < 5 * np.sqrt(16 / 12 / COUNT)
    assert abs(u.var() - 16 / 12) < 0.03
    assert abs(n.mean() + 2) < 5 * 0.5 / np.sqrt(COUNT)
    assert abs(n.std() - 0.5) < 0.01
    assert abs(np.mean(np.abs(n + 2) < 0.5) - 0.6827) < 0.012


def test_choices(tmp_path):
    """Bernoulli and Multinomial, drawn from what engines compute."""
    nodes = [
        node("Sigmoid", ["x"], ["p"]),
        node("Bernoulli", ["p"], ["y"], dtype=B, seed=1.0),
        node("LogSoftmax", ["logits"], ["l"]),
        node("Multinomial", ["l"], ["z"], sample_size=COUNT, dtype=I, seed=5.0),
    ]
    outputs = [info("y", B, [COUNT]), info("z", I, [2, COUNT])]
    session = build(tmp_path, nodes, [info("x", F, [COUNT]), info("logits", F, [2, 3])], outputs)
    logits = np.log([[0.2, 0.3, 0.5], [0.7, 0.1, 0.2]]).astype(np.float32)
    y, z = session.run(None, {"x": np.full(COUNT, 1, np.float32), "logits": logits})
    assert y.dtype == np.bool_
    assert abs(y.mean() - 1 / (1 + np.exp(-1))) < 5 * 0.5 / np.sqrt(COUNT)
    for row, chances in zip(z, np.exp(logits), strict=True):
        assert np.abs(np.bincount(row, minlength=3) / COUNT - chances).max() < 5 * 0.5 / np.sqrt(COUNT)


def test_a_loop_draws_in_each_trip(tmp_path):
    body = helper.make_graph(
        [node("RandomNormal", [], ["row"], shape=[20], seed=1.0), node("Identity", ["go"], ["on"])],
        "body",
        [info("k", I, []), info("go", B, [])],
        [info("on", B, []), info("row", F, [20])],
    )
    session = build(
        tmp_path, [node("Loop", ["n", ""], ["rows"], body=body)], [info("n", I, [])], [info("rows", F, ["n", 20])]
    )
    rows = session.run(None, {"n": np.array(3)})[0]
    assert len(np.unique(rows)) == rows.size


def test_refusals(tmp_path):
    with pytest.raises(UserError, match="has no attribute 'shape' with sizes that are not negative"):
        build_unchecked(tmp_path, node("RandomNormal", [], ["y"], shape=[-1]))
    with pytest.raises(UserError, match="too large"):
        build_unchecked(tmp_path, node("RandomNormal", [], ["y"], shape=[1 << 40, 1 << 40]))
    with pytest.raises(UserError, match="draws no numbers of type"):
        build_unchecked(tmp_path, node("RandomNormal", [], ["y"], shape=[1], dtype=I))
    session = build(
        tmp_path, [node("Multinomial", ["x"], ["y"])], [info("x", F, [1, 2])], [info("y", TensorProto.INT32, [1, 1])]
    )
    with pytest.raises(RuntimeFailure, match="row 0 has no weight"):
        session.run(None, {"x": np.full((1, 2), -np.inf, np.float32) * np.array([[1, np.nan]], np.float32)})


def build_unchecked(path, made):
    graph = helper.make_graph([made], "g", [], [helper.make_empty_tensor_value_info("y")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)]), path / "bad.onnx")
    compiler.transform(str(path / "bad.onnx"), "m", None, [], str(path / "m.mlir"), "")

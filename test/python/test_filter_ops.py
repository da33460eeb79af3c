"""Operators whose values decide the number of their results: Compress, NonMaxSuppression, Unique; alone and with nodes
behind them."""

import numpy as np
import onnxruntime as ort
import pytest
from graphs import B, F, I, info, save, weight
from onnx import numpy_helper
from onnx.helper import make_node as node
from pto_mlir import compiler
from pto_mlir.runtime import InferenceSession


def check(path, nodes, inputs, outputs, feeds, constants=(), max_extent=64):
    """The model's answers beside onnxruntime's for each of `feeds`."""
    file = path / "m.onnx"
    save(file, nodes, inputs, outputs, list(constants))
    compiler.transform(str(file), "m", None, [], str(path / "m.mlir"), "", max_extent)
    compiler.deploy(str(path / "m.mlir"), str(path / "m.pmodel"), "F32", "a3", 1, False)
    session, reference = InferenceSession(str(path / "m.pmodel")), ort.InferenceSession(str(file))
    for feed in feeds:
        for ours, expected in zip(session.run(None, feed), reference.run(None, feed), strict=True):
            assert ours.dtype == expected.dtype
            np.testing.assert_allclose(ours, expected, rtol=1e-6)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("known", [True, False])
def test_compress(tmp_path, axis, known):
    rng = np.random.default_rng(2)
    shape = (5, 7, 3)
    length = int(np.prod(shape)) if axis is None else shape[axis]
    attributes, dims = ({}, ["n"]) if axis is None else ({"axis": axis}, ["a", "b", "c"])
    nodes = [node("Compress", ["x", "keep"], ["kept"], **attributes), node("Relu", ["kept"], ["y"])]
    patterns = [rng.random(length) < 0.4, np.ones(length, bool), rng.random(max(length - 2, 1)) < 0.5]
    for pattern in patterns if known else patterns[:2]:
        inputs = [info("x", F, shape)] + ([] if known else [info("keep", B, [length])])
        constants = [numpy_helper.from_array(pattern, "keep")] if known else []
        feeds = []
        for keep in [pattern] if known else [*patterns[:2], np.zeros(length, bool)]:
            x = rng.standard_normal(shape).astype(np.float32)
            feeds.append({"x": x} if known else {"x": x, "keep": keep})
        check(tmp_path, nodes, inputs, [info("y", F, dims)], feeds, constants, max_extent=128)


@pytest.mark.parametrize("by_center", [0, 1])
@pytest.mark.parametrize("limits", [1, 2, 3])
def test_non_max_suppression(tmp_path, by_center, limits):
    """`limits`: how many of the optional inputs are given; without the first nothing is selected."""
    rng = np.random.default_rng(3)
    names = ["most", "overlap", "least"][:limits]
    nodes = [
        node("NonMaxSuppression", ["boxes", "scores", *names], ["rows"], center_point_box=by_center),
        node("Gather", ["rows", "column"], ["y"], axis=1),
    ]
    inputs = [info("boxes", F, [2, 12, 4]), info("scores", F, [2, 3, 12])]
    values = {
        "most": np.array([4], np.int64),
        "overlap": np.array([0.3], np.float32),
        "least": np.array([0.4], np.float32),
    }
    constants = [weight("column", np.array([2, 0], np.int64)), *(weight(name, values[name]) for name in names)]
    feeds = []
    for _ in range(4):
        corners = rng.random((2, 12, 4)).astype(np.float32)
        feeds.append({"boxes": corners, "scores": rng.random((2, 3, 12)).astype(np.float32)})
    check(tmp_path, nodes, inputs, [info("y", I, ["n", 2])], feeds, constants)


@pytest.mark.parametrize("is_sorted", [0, 1])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("kind", [np.float32, np.int64, np.int8])
def test_unique(tmp_path, axis, is_sorted, kind):
    rng = np.random.default_rng(4)
    attributes, dims = ({}, ["n"]) if axis is None else ({"axis": axis}, ["a", "b"])
    names = ["values", "first", "inverse", "counts"]
    nodes = [node("Unique", ["x"], names, sorted=is_sorted, **attributes)]
    element = {np.float32: F, np.int64: I, np.int8: 3}[kind]
    outputs = [info("values", element, dims), *(info(name, I, [name]) for name in names[1:])]
    shape = (6, 4)
    columns = rng.integers(0, 2, shape)
    feeds = [{"x": x.astype(kind)} for x in (rng.integers(-3, 3, shape), np.zeros(shape), columns)]
    check(tmp_path, nodes, [info("x", element, shape)], outputs, feeds)

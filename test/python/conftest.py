"""Shared fixtures of the Python tests: two small models, and running of commands."""

import faulthandler
import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
TEST_LIMIT = float(os.environ.get("PTO_MLIR_TEST_LIMIT", "300"))  # seconds per test, including its fixtures
GRACE = 60.0

if importlib.util.find_spec("pto_mlir"):  # tests of texts and scripts run without it
    importlib.import_module("pto_mlir.pypto").enable()  # the tests in pypto/ import pypto


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Fails a test that takes longer than its limit. What native code holds up beyond a grace time ends the whole
    run."""

    def stop(*_):
        pytest.fail(f"took longer than its limit of {TEST_LIMIT:g} s", pytrace=True)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, TEST_LIMIT)
    faulthandler.dump_traceback_later(TEST_LIMIT + GRACE, exit=True)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def classifier() -> Path:
    """The folder with cls.onnx, upright.png, turned.png."""
    folder = ROOT / ".cache" / "cls"
    subprocess.run([sys.executable, str(ROOT / "scripts" / "fetch_cls.py"), str(folder)], check=True)
    return folder


def weight(rng, name: str, *shape: int, scale: float = 1.0) -> TensorProto:
    return numpy_helper.from_array((rng.standard_normal(shape) * scale).astype(np.float32), name)


def save_model(path: Path, nodes, inputs, outputs, initializers, opset: int = 17) -> Path:
    """Writes a model on float tensors; `inputs` and `outputs` are (name, shape) pairs."""

    def info(pair):
        return helper.make_tensor_value_info(pair[0], TensorProto.FLOAT, pair[1])

    graph = helper.make_graph(nodes, "g", [info(i) for i in inputs], [info(o) for o in outputs], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, str(path))
    return path


@pytest.fixture(scope="session")
def awkward(tmp_path_factory) -> Path:
    """Three layers of awkward sizes: batch 3, Cin 3, Cout 17, stride 2, asymmetric pads, K 90, softmax over 197."""
    rng = np.random.default_rng(3)
    nodes = [
        helper.make_node(
            "Conv", ["x", "w0", "b0"], ["conv"], name="conv", strides=[2, 2], pads=[0, 1, 1, 2], kernel_shape=[3, 3]
        ),
        helper.make_node("Relu", ["conv"], ["relu"], name="relu"),
        helper.make_node("Add", ["relu", "shift"], ["shifted"], name="shift"),
        helper.make_node("Reshape", ["shifted", "rows"], ["flat"], name="flat"),
        helper.make_node("MatMul", ["flat", "w1"], ["product"], name="product"),
        helper.make_node("Add", ["product", "b1"], ["logits"], name="logits"),
        helper.make_node("Softmax", ["logits"], ["y"], name="softmax", axis=-1),
    ]
    weights = [
        weight(rng, "w0", 17, 3, 3, 3, scale=0.3),
        weight(rng, "b0", 17),
        weight(rng, "shift", 17, 1, 1),
        weight(rng, "w1", 90, 197, scale=0.2),
        weight(rng, "b1", 197),
        numpy_helper.from_array(np.array([51, 90], dtype=np.int64), "rows"),
    ]
    path = tmp_path_factory.mktemp("awkward") / "awkward.onnx"
    return save_model(path, nodes, [("x", [3, 3, 13, 29])], [("y", [51, 197])], weights)


@pytest.fixture
def command(capfd):
    """Runs a command's main in this process; returns (exit code, stdout, stderr)."""

    def run(tool, *arguments):
        try:
            code = tool.main([str(a) for a in arguments])
        except SystemExit as stop:
            code = stop.code
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def small(tmp_path):
    """A convolution and a Relu."""
    rng = np.random.default_rng(0)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="first"),
        helper.make_node("Relu", ["c"], ["y"], name="second"),
    ]
    return save_model(
        tmp_path / "small.onnx", nodes, [("x", [1, 3, 8, 8])], [("y", [1, 4, 6, 6])], [weight(rng, "w", 4, 3, 3, 3)]
    )


def one_line(err: str, *words: str):
    assert len(err.strip().splitlines()) == 1, err
    assert "Traceback" not in err
    for word in words:
        assert word in err, err


@pytest.fixture
def deployed(command, tmp_path, small):
    """`small` as a .pmodel, with its .mlir and weights beside it."""
    from pto_mlir.tools import model_deploy, model_transform

    mlir, model = tmp_path / "good.mlir", tmp_path / "good.pmodel"
    assert command(model_transform, "--model_name", "m", "--model_def", small, "--mlir", mlir)[0] == 0
    code, out, err = command(model_deploy, "--mlir", mlir, "--model", model)
    assert code == 0, err
    return model

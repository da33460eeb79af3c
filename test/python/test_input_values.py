"""Inputs whose values are compiled in: model_transform --input_values."""

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper
from pto_mlir import input_values
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy, model_transform


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def branch(name, shape):
    """A body that takes the twelve values of x as `shape`, and gives sums over its last axis."""
    size = helper.make_tensor(f"{name}_shape", TensorProto.INT64, [len(shape)], shape)
    nodes = [
        helper.make_node("Constant", [], [f"{name}_s"], value=size),
        helper.make_node("Reshape", ["y", f"{name}_s"], [f"{name}_r"]),
        helper.make_node("ReduceMean", [f"{name}_r"], [f"{name}_o"], axes=[-1], keepdims=0),
    ]
    return helper.make_graph(nodes, name, [], [info(f"{name}_o", None)])


@pytest.fixture
def model(tmp_path):
    """y = relu(x) of a shape that is an input; z takes the branch that another input names, where only one fits."""
    rate = helper.make_tensor("v", TensorProto.INT64, [], [16000])
    nodes = [
        helper.make_node("Relu", ["x"], ["y"]),
        helper.make_node("Reshape", ["y", "shape"], ["r"]),
        helper.make_node("Constant", [], ["expected"], value=rate),
        helper.make_node("Equal", ["rate", "expected"], ["is"]),
        helper.make_node("If", ["is"], ["z"], then_branch=branch("a", [3, 4]), else_branch=branch("b", [5, 7])),
    ]
    inputs = [info("rate", [], TensorProto.INT64), info("x", ["n", 6]), info("shape", [2], TensorProto.INT64)]
    graph = helper.make_graph(nodes, "g", inputs, [info("r", None), info("z", None)])
    path = tmp_path / "m.onnx"
    onnx_model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    path.write_bytes(onnx_model.SerializeToString())
    return path


def arguments(model, *more):
    mlir = model.with_suffix(".mlir")
    return ["--model_name", "m", "--model_def", model, "--mlir", mlir, "--input_shapes", "[[2,6]]", *more]


def test_known_values_are_no_inputs(model, command):
    feed = {"x": np.random.default_rng(1).standard_normal((2, 6)).astype(np.float32)}
    np.savez(model.with_suffix(".npz"), **feed)
    values = ["--input_values", "rate=16000", "--input_values", "shape=[4,-1]"]
    code, out, err = command(model_transform, *arguments(model, *values, "--test_input", model.with_suffix(".npz")))
    assert code == 0, out + err
    pmodel = model.with_suffix(".pmodel")
    code, out, err = command(model_deploy, "--mlir", model.with_suffix(".mlir"), "--quantize", "F32", "--model", pmodel)
    assert code == 0, out + err
    session = InferenceSession(pmodel)
    assert [i.name for i in session.get_inputs()] == ["x"]
    whole = feed | {"rate": np.array(16000), "shape": np.array([4, -1])}
    for got, expected in zip(session.run(None, feed), ort.InferenceSession(model).run(None, whole), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "values, words",
    [
        (["rate=16000", "width=3"], "the model has no input 'width'; there are 'rate', 'x', 'shape'"),
        (["rate=1.5"], "input 'rate' has type int64, 1.5 has not"),
        (["rate=[16000]"], "input 'rate' has 0 dimensions in the model, its value 1"),
        (["shape=[1,2,3]"], "input 'shape' has shape [2] in the model, its value [3]"),
        (["shape=[]"], "input 'shape' has shape [2] in the model, its value [0]"),
        (["rate=1", "rate=2"], "each name once, got 'rate=2'"),
        (["rate"], "got 'rate'"),
        (["rate=sixteen"], "got 'rate=sixteen'"),
        (["shape=[[1],[2,3]]"], "got 'shape=[[1],[2,3]]'"),
        (['rate="16000"'], "got 'rate=\"16000\"'"),
        (["rate=99999999999999999999999"], "rate"),
    ],
)
def test_wrong_values_are_one_line(model, command, values, words):
    code, _, err = command(model_transform, *arguments(model, *(f"--input_values={value}" for value in values)))
    assert code == 1 and words in err and "Traceback" not in err, err
    assert not model.with_suffix(".mlir").exists()


def test_names_may_hold_the_sign():
    assert input_values.parse(["a=b=[1,2]"])["a=b"].tolist() == [1, 2]
    with pytest.raises(UserError, match="--input_values"):
        input_values.parse(["=1"])

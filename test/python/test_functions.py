"""Functions local to a model, and operators that are computed by ONNX's function bodies."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import backend, compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession

N = helper.make_node
OPSETS = [helper.make_opsetid("", 21), helper.make_opsetid("my.functions", 1)]


def model(nodes, functions, shape=(2, 3), weights=()):
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "g", [info], [result], list(weights))
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=10, functions=functions)


def function(name, inputs, outputs, nodes, attributes=()):
    return helper.make_function("my.functions", name, inputs, outputs, nodes, OPSETS, list(attributes))


def scaled():
    """y = Outer(x, 2), Outer(a) = Inner(a) + Inner(a) with an attribute: calls in calls, and a reference."""
    scale = N("Constant", [], ["s"])
    scale.attribute.append(onnx.AttributeProto(name="value_float", type=1, ref_attr_name="factor"))
    inner = function("Inner", ["a"], ["b"], [scale, N("Mul", ["a", "s"], ["b"])], ["factor"])
    call = N("Inner", ["a"], ["c"], domain="my.functions")
    call.attribute.append(onnx.AttributeProto(name="factor", type=1, ref_attr_name="factor"))
    return [inner, function("Outer", ["a"], ["d"], [call, N("Add", ["c", "c"], ["d"])], ["factor"])]


def test_local_functions():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    outer = N("Outer", ["x"], ["y"], domain="my.functions", factor=1.5)
    np.testing.assert_array_equal(backend.run_model(model([outer], scaled()), [x])[0], 3 * x)


def test_weights_in_files_of_their_own(tmp_path):
    weight = numpy_helper.from_array(np.full((2, 3), 2, np.float32), "w")
    nodes = [N("Outer", ["x"], ["t"], domain="my.functions", factor=1.0), N("Mul", ["t", "w"], ["y"])]
    path = tmp_path / "m.onnx"
    onnx.save(model(nodes, scaled(), weights=[weight]), path, save_as_external_data=True, size_threshold=0)
    made = compiler.transform(str(path), "m", None, [], str(tmp_path / "m.mlir"), "")
    assert "my.functions.Outer: computed by its function's body" in made["remarks"]
    assert sorted(file.name for file in tmp_path.glob("*.onnx")) == ["m.onnx"]
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), "F32", "a3", 1, False)
    (y,) = InferenceSession(tmp_path / "m.pmodel", threads=1).run(None, {"x": np.ones((2, 3), np.float32)})
    np.testing.assert_array_equal(y, np.full((2, 3), 4))


def test_bodies_of_operators():
    """Two operators, one of which is in the body of the other."""
    rng = np.random.default_rng(0)
    scores, labels = rng.standard_normal((4, 5), np.float32), np.array([1, 4, 0, 2])
    node = N("SoftmaxCrossEntropyLoss", ["x", "l"], ["y"], reduction="none")
    (got,) = backend.run_node(node, [scores, labels], opset_version=21)
    e = np.exp(scores.astype(np.float64))
    np.testing.assert_allclose(got, -np.log(e / e.sum(1, keepdims=True))[np.arange(4), labels], rtol=1e-5)


def test_what_no_body_helps():
    """The error names the operator, and what is refused in its body; a function that exists nowhere stays refused."""
    body = function("Random", ["a"], ["b"], [N("ImageDecoder", ["a"], ["r"]), N("Add", ["a", "r"], ["b"])])
    with pytest.raises(
        UserError, match=r"my.functions.Random, opset 1(.|\n)*by its function's body(.|\n)*ImageDecoder"
    ):
        backend.run_model(model([N("Random", ["x"], ["y"], domain="my.functions")], [body]), [np.ones((2, 3))])
    with pytest.raises(UserError, match=r"my.functions.None, opset 1\): is not supported$"):
        backend.Rep(model([N("None", ["x"], ["y"], domain="my.functions")], []))

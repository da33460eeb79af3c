"""Functions local to a model, and operators that are computed by ONNX's function bodies."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import backend, compiler, functions
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession

N = helper.make_node
OPSETS = [helper.make_opsetid("", 21), helper.make_opsetid("my.functions", 1)]


def model(nodes, bodies, shape=(2, 3), weights=()):
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "g", [info], [result], list(weights))
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=10, functions=bodies)


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


def test_operators_that_the_inliner_leaves_in_a_body(tmp_path):
    """CastLike in the body of AffineGrid has a body, too; with both, the inliner leaves AffineGrid as it is."""
    inputs = [
        helper.make_tensor_value_info("t", TensorProto.FLOAT, [2, 2, 3]),
        helper.make_tensor_value_info("s", TensorProto.INT64, [4]),
    ]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([N("AffineGrid", ["t", "s"], ["y"])], "g", inputs, [y])
    onnx.save(helper.make_model(graph, opset_imports=OPSETS[:1], ir_version=10), tmp_path / "m.onnx")

    def transform(path):
        kinds = {node.op_type for node in onnx.load(path).graph.node}
        refused = (
            "AffineGrid, opset 21): is not supported" if "AffineGrid" in kinds else "CastLike, opset 21): lacks 's'"
        )
        raise UserError(f"{path}: node of output 'y' ({refused}")

    with pytest.raises(UserError, match=r"AffineGrid(.|\n)*by its function's body: .*CastLike, opset 21\): lacks 's'"):
        functions.import_with_bodies(str(tmp_path / "m.onnx"), transform)


def test_what_no_body_helps():
    """The error names the operator, and what is refused in its body; a function that exists nowhere stays refused."""
    body = function("Random", ["a"], ["b"], [N("ImageDecoder", ["a"], ["r"]), N("Add", ["a", "r"], ["b"])])
    with pytest.raises(
        UserError, match=r"my.functions.Random, opset 1(.|\n)*by its function's body(.|\n)*ImageDecoder"
    ):
        backend.run_model(model([N("Random", ["x"], ["y"], domain="my.functions")], [body]), [np.ones((2, 3))])
    with pytest.raises(UserError, match=r"my.functions.None, opset 1\): is not supported$"):
        backend.Rep(model([N("None", ["x"], ["y"], domain="my.functions")], []))


def _other(name, *inputs):
    return N(name, list(inputs), ["b"], domain="my.functions")


def _twice(i):
    """A function that calls the next one twice."""
    calls = [N(f"F{i + 1}", [a], [b], domain="my.functions") for a, b in (("a", "c"), ("c", "b"))]
    return function(f"F{i}", ["a"], ["b"], calls)


LAST = function("F40", ["a"], ["b"], [N("Neg", ["a"], ["b"])])
BRANCHES = [
    helper.make_graph([node], "g", [], [helper.make_tensor_value_info("b", TensorProto.FLOAT, None)])
    for node in (_other("F0", "a"), N("Neg", ["a"], ["b"]))
]
BROKEN = {
    "itself": ([function("F0", ["a"], ["b"], [_other("F0", "a")])], "F0' calls itself: my.functions.F0 -> my.f"),
    "a circle": (
        [function("F0", ["a"], ["b"], [_other("F1", "a")]), function("F1", ["a"], ["b"], [_other("F0", "a")])],
        "F0 -> my.functions.F1 -> my.functions.F0",
    ),
    "itself in a branch": (
        [
            function(
                "F0",
                ["a"],
                ["b"],
                [N("If", ["a"], ["b"], then_branch=BRANCHES[0], else_branch=BRANCHES[1])],
            )
        ],
        "F0' calls itself",
    ),
    "a trillion nodes": ([*map(_twice, range(40)), LAST], "become more than 1,048,576 nodes"),
    "two of one name": ([function("F0", ["a"], ["b"], [N("Neg", ["a"], ["b"])])] * 2, "F0' is defined twice"),
    "a name of the model's": ([function("F0", ["a"], ["b"], [N("Add", ["a", "x"], ["b"])])], "F0': .*input 'x'"),
    "no output": ([function("F0", ["a"], ["b"], [N("Neg", ["a"], ["c"])])], "no node computes its output 'b'"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_functions_that_are_none(what, tmp_path):
    bodies, reason = BROKEN[what]
    path = tmp_path / "m.onnx"
    path.write_bytes(model([N("F0", ["x"], ["y"], domain="my.functions")], bodies).SerializeToString())
    with pytest.raises(UserError, match=rf"^\S*m.onnx: .*{reason}.*$"):
        compiler.transform(str(path), "m", None, [], str(tmp_path / "m.mlir"), "")
    assert not (tmp_path / "m.mlir").exists()


def test_no_body_helps_a_node_that_is_wrong():
    """Softmax and Relu have bodies; an attribute of another type, or another number of inputs, is refused all the
    same, in one line."""
    for nodes, reason in (
        ([N("Softmax", ["x"], ["y"], axis=1.5)], "'axis' must be of type INT, not FLOAT"),
        ([N("Relu", ["x", "x"], ["y"])], "has 2 inputs, takes 1"),
        ([N("Relu", ["x"], ["y"]), N("Relu", ["x"], ["y"])], "defines 'y' a second time"),
    ):
        with pytest.raises(UserError, match=f"^.*{reason}$"):
            backend.Rep(model(nodes, []))

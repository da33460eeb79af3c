"""Models that onnx.checker refuses: each is an error for people here, too, on one line for each problem."""

import onnx
import pytest
from onnx import TensorProto, helper
from test_import import pto_opt

F, INT64 = TensorProto.FLOAT, TensorProto.INT64
info = helper.make_tensor_value_info


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=f"n_{outputs.split()[0]}", **attributes)


def model(nodes, weights=(), inputs=None, outputs=None, opset=17):
    graph = helper.make_graph(
        nodes, "g", inputs or [info("x", F, [2, 3])], outputs or [info("y", F, None)], list(weights)
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def tensor(name="w", dims=(3,), **fields):
    return TensorProto(name=name, data_type=F, dims=dims, **fields)


def branch(*outputs):
    return helper.make_graph([node("Relu", "x", o) for o in outputs], "b", [], [info(o, F, [2, 3]) for o in outputs])


def without(made, field, of=lambda m: m):
    of(made).ClearField(field)
    return made


ADD = [node("Add", "x w", "y")]
RELU = [node("Relu", "x", "y")]
COND = [info("x", F, [2, 3]), info("c", TensorProto.BOOL, [])]

# Name -> model, words of our error.
CASES = {
    "a node that reads its own output": (lambda: model([node("Add", "x y", "y")]), "'y'", "cycle"),
    "a cycle of two nodes": (
        lambda: model([node("Add", "x b", "a"), node("Relu", "a", "b"), node("Relu", "a", "y")]),
        "'b'",
        "cycle",
    ),
    "a cycle of four nodes behind a good one": (
        lambda: model(
            [node("Relu", "x", "r"), node("Add", "r d", "a"), *(node("Relu", i, o) for i, o in ("ab", "bc", "cd"))]
            + [node("Relu", "d", "y")]
        ),
        "'d'",
        "cycle",
    ),
    "nodes out of order": (
        lambda: model([node("Relu", "a", "y"), node("Relu", "x", "a")]),
        "computed later in the file",
    ),
    "an initializer that is not there": (lambda: model(ADD), "input 'w' is defined nowhere"),
    "an output that is not there": (lambda: model([node("Relu", "x", "a")]), "no tensor 'y' to be an output"),
    "a tensor defined twice": (lambda: model([node("Relu", "x", "y"), node("Exp", "x", "y")]), "'y' a second time"),
    "a node that defines an input": (lambda: model([node("Exp", "x", "x"), *RELU]), "'x'"),
    "an initializer of a node's name": (lambda: model(RELU, [tensor("y", float_data=[1, 2, 3])]), "'y'"),
    "an initializer twice": (lambda: model(ADD, [tensor(float_data=[1, 2, 3])] * 2), "'w'"),
    "an input twice": (lambda: model(RELU, inputs=[info("x", F, [2, 3])] * 2), "'x'"),
    "too few numbers": (lambda: model(ADD, [tensor(float_data=[1, 2])]), "'w'"),
    "too few bytes": (lambda: model(ADD, [tensor(raw_data=bytes(11))]), "'w'", "11 bytes"),
    "numbers and bytes": (lambda: model(ADD, [tensor(raw_data=bytes(12), float_data=[1, 2, 3])]), "'w'", "twice"),
    "numbers of another type": (lambda: model(ADD, [tensor(int64_data=[1, 2, 3])]), "'w'"),
    "a tensor without a type": (lambda: model(ADD, [TensorProto(name="w", dims=[3], float_data=[1, 2, 3])]), "'w'"),
    "a tensor of a type that there is not": (
        lambda: model(ADD, [TensorProto(name="w", data_type=99, dims=[3], raw_data=bytes(12))]),
        "'w'",
    ),
    "an extent below zero": (lambda: model(ADD, [tensor(dims=[-3], float_data=[1, 2, 3])]), "'w'"),
    "an initializer without a name": (
        lambda: model(RELU, [tensor("", float_data=[1, 2, 3])]),
        "an initializer has no name",
    ),
    "too few inputs": (lambda: model([node("Add", "x", "y")]), "n_y"),
    "too many inputs": (lambda: model([node("Relu", "x x", "y")]), "n_y"),
    "too many outputs": (
        lambda: model([node("Relu", "x", "y z")], outputs=[info("y", F, None), info("z", F, None)]),
        "'z' is no output of the operator",
    ),
    "an attribute that the operator lacks": (lambda: model([node("Relu", "x", "y", alpha=1.0)]), "'alpha'"),
    "an attribute of another type": (lambda: model([node("Softmax", "x", "y", axis=1.0)]), "'axis'"),
    "an attribute that is missing": (lambda: model([node("Concat", "x x", "y")]), "'axis'"),
    "an operator that there is not": (lambda: model([node("Frobnicate", "x", "y")]), "Frobnicate"),
    "an operator that is newer than its opset": (lambda: model([node("Gelu", "x", "y")], opset=17), "Gelu"),
    "a node without an operator": (lambda: model([node("", "x", "y")]), "n_y"),
    "no opset": (lambda: without(model(RELU), "opset_import"), "no operator set"),
    "no IR version": (lambda: without(model(RELU), "ir_version"), "is not an ONNX model"),
    "no graph": (lambda: without(model(RELU), "graph"), "is not an ONNX model"),
    "an input without a type": (lambda: model(RELU, inputs=[onnx.ValueInfoProto(name="x")]), "'x'"),
    "an input without a name": (
        lambda: model(RELU, inputs=[info("x", F, [2, 3]), info("", F, [1])]),
        "an input has no name",
    ),
    "an output without a name": (
        lambda: model(RELU, outputs=[info("y", F, None), info("", F, None)]),
        "'' to be an output",
    ),
    "branches of different numbers of outputs": (
        lambda: model([node("If", "c", "y", then_branch=branch("a"), else_branch=branch("b", "d"))], inputs=COND),
        "n_y",
    ),
    "a branch that reads what is nowhere": (
        lambda: model(
            [
                node(
                    "If",
                    "c",
                    "y",
                    then_branch=branch("a"),
                    else_branch=helper.make_graph([node("Relu", "nowhere", "b")], "b", [], [info("b", F, [2, 3])]),
                )
            ],
            inputs=COND,
        ),
        "'nowhere'",
    ),
    "types that do not fit": (
        lambda: model(ADD, [TensorProto(name="w", data_type=INT64, dims=[3], int64_data=[1, 2, 3])]),
        "n_y",
    ),
    "shapes that do not fit": (lambda: model([node("Add", "x w", "y")], [tensor(dims=[4], float_data=[1] * 4)]), "n_y"),
    "an output of another type": (lambda: model(RELU, outputs=[info("y", INT64, [2, 3])]), "'y'", "f32", "INT64"),
}


@pytest.mark.parametrize("case", CASES)
def test_models_that_onnx_checker_refuses(case, tmp_path):
    build, *words = CASES[case]
    made = build()
    with pytest.raises((onnx.checker.ValidationError, onnx.shape_inference.InferenceError)):
        onnx.checker.check_model(made, full_check=True)
    path = tmp_path / "m.onnx"
    path.write_bytes(made.SerializePartialToString())
    code, out, err = pto_opt("--import-onnx", path)
    assert code == 1 and out == "", (code, err)
    lines = err.splitlines()
    assert lines and all(line.startswith("pto-opt: error: ") and str(path) in line for line in lines), err
    assert any(all(word in line for word in words) for line in lines), err

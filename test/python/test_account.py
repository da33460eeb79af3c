"""Every named tensor of a model is compared, absorbed, or listed with a reason: the parts make the whole, and none is
lost."""

import re

import numpy as np
import onnx
import pytest
from conftest import save_model, weight
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import compiler, npz
from pto_mlir.compare import account, compare
from pto_mlir.reference import constants, run_onnx
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy, model_transform


def names_of(onnx_file) -> set[str]:
    """Every tensor produced by a node of the main graph."""
    graph = onnx.load(str(onnx_file), load_external_data=False).graph
    return {name for node in graph.node for name in node.output if name}


@pytest.fixture
def folded(tmp_path):
    """Constants, shape arithmetic, views, an identity, a fused activation and a batch norm: everything that leaves the
    graph."""
    rng = np.random.default_rng(0)
    nodes = [
        helper.make_node("Constant", [], ["two"], value=numpy_helper.from_array(np.float32(2))),
        helper.make_node("Mul", ["two", "two"], ["four"]),
        helper.make_node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3]),
        helper.make_node("BatchNormalization", ["c", "g", "g", "g", "g2"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("Identity", ["r"], ["i"]),
        helper.make_node("Mul", ["i", "four"], ["m"]),
        helper.make_node("Shape", ["m"], ["s"]),
        helper.make_node("Reshape", ["m", "rows"], ["flat"]),
        helper.make_node("Transpose", ["flat"], ["t"], perm=[0, 2, 1]),
        helper.make_node("Transpose", ["t"], ["tt"], perm=[0, 2, 1]),
        helper.make_node("Reshape", ["tt", "s"], ["back"]),
        helper.make_node("Softmax", ["back"], ["y"], axis=-1),
    ]
    constants = [
        weight(rng, "w", 5, 3, 3, 3),
        weight(rng, "g", 5),
        numpy_helper.from_array(np.full(5, 1.5, np.float32), "g2"),
        numpy_helper.from_array(np.array([2, 5, 60]), "rows"),
    ]
    return save_model(tmp_path / "folded.onnx", nodes, [("x", [2, 3, 8, 12])], [("y", [2, 5, 6, 10])], constants)


def check(onnx_file, feed, tmp_path, mode):
    mlir, model = tmp_path / "m.mlir", tmp_path / "m.pmodel"
    compiler.transform(str(onnx_file), "m", [list(v.shape) for v in feed.values()], [], str(mlir), "{}")
    net = compiler.describe(str(mlir))
    reference = run_onnx(onnx_file, feed, all_tensors=True)
    assert names_of(onnx_file) <= set(reference)
    reasons = constants(onnx_file, feed)
    result = compiler.deploy(str(mlir), str(model), mode, "a3", 1, True)
    session = InferenceSession(str(model))
    outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, feed)))
    rows = compare({**session.run_with_debug(feed), **outputs}, reference)
    assert not set(net["absorbed"]) - set(result["absorbed"]), "absorbed names are never forgotten"
    where = account(reference, rows, set(result["absorbed"]), reasons)
    parts = [where.compared, where.absorbed, list(where.listed), where.lost]
    assert sorted(name for part in parts for name in part) == sorted(reference)
    assert where.lost == []
    return where


@pytest.mark.parametrize("mode", ["F32", "F16"])
def test_nothing_is_lost(tmp_path, folded, awkward, mode):
    rng = np.random.default_rng(1)
    where = check(folded, {"x": rng.standard_normal((2, 3, 8, 12)).astype(np.float32)}, tmp_path, mode)
    assert {"two", "s"} <= {name for name, why in where.listed.items() if why == "a constant"}
    assert "y" in where.compared and {"i", "four"} <= set(where.absorbed)
    check(awkward, {"x": rng.standard_normal((3, 3, 13, 29)).astype(np.float32)}, tmp_path, mode)


@pytest.mark.parametrize("mode", ["F32", "F16"])
def test_a_row_that_a_product_reads_in_place_is_absorbed(tmp_path, mode):
    """The class token of a transformer: no kernel makes it, and it has a name."""
    rng = np.random.default_rng(5)
    nodes = [
        helper.make_node("LayerNormalization", ["x", "scale", "bias"], ["normal"], axis=-1),
        helper.make_node("Gather", ["normal", "first"], ["row"], axis=1),
        helper.make_node("Gemm", ["row", "w"], ["y"], transB=1),
    ]
    weights = [weight(rng, "scale", 64), weight(rng, "bias", 64), weight(rng, "w", 10, 64)]
    weights.append(numpy_helper.from_array(np.array(0), "first"))
    net = save_model(tmp_path / "row.onnx", nodes, [("x", [1, 17, 64])], [("y", [1, 10])], weights)
    where = check(net, {"x": rng.standard_normal((1, 17, 64)).astype(np.float32)}, tmp_path, mode)
    assert where.absorbed == ["row"]


def test_nothing_is_lost_between_nets(tmp_path):
    """Absorbed by the import, in a model of several nets with the host between them."""
    nodes = [
        helper.make_node("Transpose", ["w"], ["wt"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["x", "wt"], ["p"]),
        helper.make_node("Unique", ["p"], ["u"]),
        helper.make_node("Exp", ["u"], ["y"]),
    ]
    file = save_model(tmp_path / "m.onnx", nodes, [("x", [1, 4, 6]), ("w", [1, 5, 6])], [("y", [None])], [])
    compiler.transform(str(file), "m", None, [], str(tmp_path / "m.mlir"), "{}")
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), "F32", "a3", 1, True)
    info = InferenceSession(str(tmp_path / "m.pmodel")).info()
    assert "wt" in info["absorbed"]


def test_nothing_is_lost_in_the_classifier(tmp_path, classifier):
    feed = {"x": np.random.default_rng(2).random((1, 3, 48, 192), np.float32)}
    where = check(classifier / "cls.onnx", feed, tmp_path, "F16")
    assert len(where.compared) > 100 and len(where.absorbed) > 50


def test_a_lost_tensor_is_found(folded):
    """A name that no part explains is reported."""
    reference = {n: np.arange(4.0) + i for i, n in enumerate(["kept", "gone", "const", "left_out", "folded"])}
    reference["view"] = reference["folded"].reshape(2, 2)
    given = {"x": np.arange(6)}
    reference["view of an input"] = given["x"].reshape(2, 3)
    rows = compare({"kept": reference["kept"]}, reference)
    where = account(reference, rows, {"folded"}, {"const": "a constant"}, ["left_out"], given)
    assert where.compared == ["kept"] and where.absorbed == ["folded"] and where.lost == ["gone"]
    assert where.listed == {
        "const": "a constant",
        "left_out": "excepted by the user",
        "view": "the elements of another tensor in other dimensions",
        "view of an input": "the elements of another tensor in other dimensions",
    }
    assert any("LOST" in line and "gone" in line for line in where.lines())


def test_constants_do_not_depend_on_inputs(folded):
    assert set(constants(folded, ["x"])) == {"two", "four", "s"}


def test_the_commands_report_the_account(command, tmp_path, folded):
    feed, reference, mlir = tmp_path / "in.npz", tmp_path / "ref.npz", tmp_path / "m.mlir"
    npz.save(feed, {"x": np.random.default_rng(1).standard_normal((2, 3, 8, 12)).astype(np.float32)})
    for tool, arguments in (
        (model_transform, ["--model_name", "m", "--model_def", folded, "--mlir", mlir, "--test_result", reference]),
        (model_deploy, ["--mlir", mlir, "--model", tmp_path / "m.pmodel", "--test_reference", reference]),
    ):
        code, out, err = command(tool, *arguments, "--test_input", feed, "--debug")
        assert code == 0, out + err
        found = re.search(
            r"(\d+) named tensors: (\d+) compared, (\d+) absorbed, (\d+) not compared .*, (\d+) lost", out
        )
        total, *parts = map(int, found.groups())
        assert total == sum(parts) >= len(names_of(folded)) and parts[-1] == 0, out


def test_the_tools_exit_with_1_when_a_tensor_is_lost(tmp_path, folded, command, monkeypatch):
    """model_transform and model_deploy under --debug, when the account is told of no absorbed tensor."""
    feed, mlir, model = tmp_path / "in.npz", tmp_path / "m.mlir", tmp_path / "m.pmodel"
    npz.save(feed, {"x": np.random.default_rng(4).standard_normal((2, 3, 8, 12)).astype(np.float32)})
    first = ["--model_name", "m", "--model_def", folded, "--mlir", mlir, "--test_result", tmp_path / "ref.npz"]
    second = ["--mlir", mlir, "--model", model, "--test_reference", tmp_path / "ref.npz"]
    for tool, arguments in ((model_transform, first), (model_deploy, second)):
        assert command(tool, *arguments, "--test_input", feed, "--debug")[0] == 0
        with monkeypatch.context() as patch:
            patch.setattr(tool, "account", lambda reference, rows, absorbed, *more: account(reference, rows, (), *more))
            code, out, err = command(tool, *arguments, "--test_input", feed, "--debug")
        assert code == 1 and "LOST" in out, out + err


def test_what_nothing_reads_is_listed(tmp_path):
    """A second output without a reader, and a node whose result only a subgraph reads."""
    model = tmp_path / "m.onnx"
    inner = helper.make_graph(
        [helper.make_node("Neg", ["b"], ["n"])],
        "inner",
        [],
        [helper.make_tensor_value_info("n", TensorProto.FLOAT, None)],
    )
    nodes = [
        helper.make_node("Dropout", ["x"], ["a", "mask"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Exp", ["a"], ["dead"]),
        helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])]
    inputs += [helper.make_tensor_value_info("c", TensorProto.BOOL, [])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", inputs, outputs)), model)
    assert constants(model, ["x", "c"]) == dict.fromkeys(["mask", "dead"], "read by nothing")

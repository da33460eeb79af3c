"""Models with control flow as a whole: debug tensors, timing, half precision, ONNX's node tests, what is refused."""

import json

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from control_flow import RANDOM, compare, convert
from graphs import B, F, I, info, save, weight
from onnx import helper, numpy_helper
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, RuntimeFailure
from pto_mlir.tools import model_deploy, model_transform


def test_makespan_of_a_program(tmp_path):
    """Timing mode over several nets: the program's tasks in virtual time, the same in every run, longer with more
    trips."""
    from pto_mlir.tools import model_runner

    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["h", "w"], ["m"]),
            helper.make_node("Tanh", ["m"], ["h2"]),
            helper.make_node("ReduceMax", ["h2"], ["top"], axes=[0, 1], keepdims=0),
            helper.make_node("Less", ["top", "bound"], ["go2"]),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, [16, 16])],
        [info("go2", B, []), info("h2", F, [16, 16])],
    )
    save(
        tmp_path / "m.onnx",
        [helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)],
        [info("n", I, []), info("x", F, [16, 16])],
        [info("y", F, [16, 16])],
        [weight("w", RANDOM.standard_normal((16, 16), np.float32)), weight("bound", np.float32(2))],
    )
    convert(tmp_path / "m.onnx", str(tmp_path / "m.pmodel"))

    def makespan(trips):
        np.savez(tmp_path / "in.npz", n=np.array(trips), x=np.ones((16, 16), np.float32))
        arguments = [
            "--model",
            "m.pmodel",
            "--input",
            "in.npz",
            "--output",
            "out.npz",
            "--mode",
            "timing",
            "--profile",
            "t.json",
        ]
        assert model_runner.main([str(tmp_path / text) if "." in text else text for text in arguments]) == 0
        return (tmp_path / "t.json").read_text()

    def microseconds(trace):
        return max(
            event["ts"] + event.get("dur", 0) for event in json.loads(trace)["traceEvents"] if event["ph"] == "X"
        )

    one, four = makespan(1), makespan(4)
    assert one == makespan(1)
    assert 3 * microseconds(one) < microseconds(four) < 5 * microseconds(one)


def test_values_that_are_no_net(tmp_path):
    """Constants and inputs as results, two results that are one, a large constant that is carried."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["h", "x"], ["h2"]),
            helper.make_node("Identity", ["go"], ["go2"]),
            helper.make_node("Identity", ["k"], ["k2"]),
            helper.make_node("Identity", ["x"], ["x2"]),
            helper.make_node("Constant", [], ["c"], value=weight("", np.float32([2, 3]))),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, [9, 9]), info("k", F, [9, 9])],
        [info("go2", B, []), info("h2", F, [9, 9]), info("k2", F, [9, 9]), info("c", F, [2]), info("x2", F, [9, 9])],
    )
    save(
        tmp_path / "m.onnx",
        [
            helper.make_node("Loop", ["n", "", "big", "x"], ["y", "k", "cs", "xs"], body=body),
            helper.make_node("Identity", ["x"], ["x3"]),
        ],
        [info("n", I, []), info("x", F, [9, 9])],
        [
            info("y", F, [9, 9]),
            info("k", F, [9, 9]),
            info("cs", F, ["t", 2]),
            info("xs", F, ["u", 9, 9]),
            info("x3", F, [9, 9]),
        ],
        [weight("big", RANDOM.standard_normal((9, 9), np.float32))],
    )
    compare(tmp_path, [{"n": np.array(n), "x": RANDOM.standard_normal((9, 9), np.float32)} for n in (0, 3)])


def test_half_precision_and_order_of_launches(tmp_path):
    """A recurrence in F16; as tasks and in order the same bits."""
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["s", "w"], ["m"]),
            helper.make_node("Add", ["m", "row"], ["a"]),
            helper.make_node("Tanh", ["a"], ["s2"]),
            helper.make_node("Identity", ["s2"], ["out"]),
        ],
        "body",
        [info("s", F, [1, 32]), info("row", F, [1, 32])],
        [info("s2", F, [1, 32]), info("out", F, [1, 32])],
    )
    save(
        tmp_path / "m.onnx",
        [helper.make_node("Scan", ["s0", "xs"], ["s", "ys"], body=body, num_scan_inputs=1)],
        [info("s0", F, [1, 32]), info("xs", F, [6, 1, 32])],
        [info("s", F, [1, 32]), info("ys", F, [6, 1, 32])],
        [weight("w", 0.2 * RANDOM.standard_normal((32, 32), np.float32))],
    )
    target = str(tmp_path / "m.pmodel")
    convert(tmp_path / "m.onnx", target, quantize="F16")
    feed = {"s0": np.zeros((1, 32), np.float32), "xs": RANDOM.standard_normal((6, 1, 32), np.float32)}
    tasks = InferenceSession(target, threads=2).run(None, feed)
    for other in (
        InferenceSession(target, threads=1, schedule="in-order"),
        InferenceSession(target, threads=1, mode="checked"),
    ):
        for a, b in zip(tasks, other.run(None, feed), strict=True):
            np.testing.assert_array_equal(a, b)
    for ours, theirs in zip(tasks, ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, feed), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=4e-3)


@pytest.mark.parametrize("operator", ["if_", "loop", "nonzero", "scan"])
def test_onnx_backend_nodes(tmp_path, operator):
    """ONNX's own node tests with their data. Left out: sequences and optionals, and Scan 8, which are refused."""
    import importlib

    from onnx.backend.test.case import node

    importlib.import_module(f"onnx.backend.test.case.node.{operator}")
    names = {
        "if_": ["test_if"],
        "loop": ["test_loop11"],
        "nonzero": ["test_nonzero_example"],
        "scan": ["test_scan9_sum", "test_scan9_multi_state", "test_scan9_scalar"],
    }[operator]
    cases = {case.name: case for case in node._NodeTestCases}
    for name in names:
        case, target = cases[name], str(tmp_path / "m.pmodel")
        onnx.save(case.model, tmp_path / "m.onnx")
        convert(tmp_path / "m.onnx", target)
        for inputs, outputs in case.data_sets:
            feed = {info.name: np.asarray(value) for info, value in zip(case.model.graph.input, inputs, strict=True)}
            for ours, theirs in zip(InferenceSession(target, threads=1).run(None, feed), outputs, strict=True):
                assert ours.dtype == theirs.dtype
                np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "operator, name, message",
    [
        (
            "loop",
            "test_loop13_seq",
            r"input 'seq_empty': only tensors are supported: sequences, optionals and maps have no place in "
            r"device memory; a tensor that grows by Concat",
        ),
        ("loop", "test_loop16_seq_none", r"input 'opt_seq': only tensors are supported"),
        ("if_", "test_if_seq", r"\(SequenceConstruct, opset 13\): is not supported: sequences, optionals and maps"),
        ("if_", "test_if_opt", r"\(Optional, opset 16\): is not supported: sequences, optionals and maps"),
    ],
)
def test_what_is_not_imported_has_a_hint(tmp_path, operator, name, message):
    import importlib

    from onnx.backend.test.case import node

    importlib.import_module(f"onnx.backend.test.case.node.{operator}")
    onnx.save({case.name: case for case in node._NodeTestCases}[name].model, tmp_path / "m.onnx")
    with pytest.raises(UserError, match=message):
        convert(tmp_path / "m.onnx", str(tmp_path / "m.pmodel"))


def test_every_tensor_of_a_body_is_compared(tmp_path, capfd):
    """model_transform and model_deploy --debug: the last value of each, against onnxruntime's."""
    inner = helper.make_graph(
        [
            helper.make_node("Tanh", ["g"], ["t"]),
            helper.make_node("Add", ["t", "h"], ["g2"]),
            helper.make_node("Identity", ["ig"], ["ig2"]),
        ],
        "inner",
        [info("j", I, []), info("ig", B, []), info("g", F, [3])],
        [info("ig2", B, []), info("g2", F, [3])],
    )
    body = helper.make_graph(
        [
            helper.make_node("Loop", ["two", "", "h"], ["u"], body=inner),
            helper.make_node("Exp", ["u"], ["e"]),
            helper.make_node("Neg", ["e"], ["h2"]),
            helper.make_node("Identity", ["go"], ["go2"]),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, [3])],
        [info("go2", B, []), info("h2", F, [3])],
    )
    then = helper.make_graph(
        [helper.make_node("Abs", ["y"], ["a"]), helper.make_node("Relu", ["a"], ["r"])], "then", [], [info("r", F, [3])]
    )
    other = helper.make_graph([helper.make_node("Sub", ["y", "x"], ["s"])], "else", [], [info("s", F, [3])])
    save(
        tmp_path / "m.onnx",
        [
            helper.make_node("Loop", ["n", "", "x"], ["y"], body=body),
            helper.make_node("If", ["c"], ["z"], then_branch=then, else_branch=other),
        ],
        [info("n", I, []), info("c", B, []), info("x", F, [3])],
        [info("z", F, [3])],
        [weight("two", np.int64(2))],
    )
    np.savez(tmp_path / "in.npz", n=np.int64(3), c=np.array(True), x=np.float32([0.5, -1, 0.25]))
    names = {
        key: str(tmp_path / name)
        for key, name in (
            ("onnx", "m.onnx"),
            ("mlir", "m.mlir"),
            ("in", "in.npz"),
            ("ref", "ref.npz"),
            ("model", "m.pmodel"),
        )
    }
    assert (
        model_transform.main(
            [
                "--model_name",
                "m",
                "--model_def",
                names["onnx"],
                "--mlir",
                names["mlir"],
                "--test_input",
                names["in"],
                "--test_result",
                names["ref"],
            ]
        )
        == 0
    )
    reference = np.load(names["ref"])
    assert {"t", "g2", "u", "e", "h2", "y", "a", "r", "z"} <= set(reference.files) and "s" not in reference.files
    deploy = [
        "--mlir",
        names["mlir"],
        "--model",
        names["model"],
        "--test_input",
        names["in"],
        "--test_reference",
        names["ref"],
        "--debug",
    ]
    assert model_deploy.main(deploy) == 0
    assert "no real loss" in capfd.readouterr().out
    kept = InferenceSession(names["model"], threads=1).run_with_debug(dict(np.load(names["in"])))
    for name in ("g2", "e", "h2", "a"):
        np.testing.assert_allclose(kept[name], reference[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["functional", "checked"])
def test_indices_in_a_program_are_checked(tmp_path, mode):
    """h += rows[ids + i] of every trip: with tasks and without, an index that a net gets, or computes itself, must name
    a row."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["ids", "i"], ["at"]),
            helper.make_node("Gather", ["rows", "at"], ["r"]),
            helper.make_node("Add", ["h", "r"], ["h2"]),
            helper.make_node("Gather", ["rows", "ids"], ["q"]),
            helper.make_node("Mul", ["h2", "q"], ["h3"]),
            helper.make_node("Identity", ["go"], ["go2"]),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, [2, 5])],
        [info("go2", B, []), info("h3", F, [2, 5])],
    )
    rows = RANDOM.standard_normal((6, 5), np.float32)
    save(
        tmp_path / "m.onnx",
        [helper.make_node("Loop", ["n", "", "h0"], ["h"], body=body)],
        [info("n", I, []), info("ids", I, [2]), info("h0", F, [2, 5])],
        [info("h", F, [2, 5])],
        [weight("rows", rows)],
    )
    convert(tmp_path / "m.onnx", str(tmp_path / "m.pmodel"))
    session = InferenceSession(str(tmp_path / "m.pmodel"), threads=1, mode=mode)
    feed = {"n": np.array(3), "ids": np.array([3, -6]), "h0": np.ones((2, 5), np.float32)}
    expected = feed["h0"]
    for i in range(3):
        expected = (expected + rows[feed["ids"] + i]) * rows[feed["ids"]]
    for name, wrong, text in (
        ("n", 4, r"index 'at': element \[0\] is 6, but it names one of 6 rows"),
        ("ids", [3, -7], r"index 'ids': element \[1\] is -7"),
    ):
        np.testing.assert_allclose(session.run(None, feed)[0], expected, rtol=1e-5)
        with pytest.raises(RuntimeFailure, match=text):
            session.run(None, {**feed, name: np.array(wrong)})


def test_what_does_not_work_is_said(tmp_path):
    """Problems within a subgraph name the node; a subgraph that is not what the node needs is said."""
    inner = helper.make_graph(
        [helper.make_node("MaxRoiPool", ["h", "r"], ["t"], "inside", pooled_shape=[40000, 1])],
        "then",
        [],
        [info("t", F, None)],
    )
    other = helper.make_graph([helper.make_node("ReduceSum", ["h"], ["e"], keepdims=0)], "else", [], [info("e", F, [])])
    path = tmp_path / "m.onnx"
    save(
        path,
        [helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=other)],
        [info("h", F, [1, 1, 2, 2]), info("r", F, [1, 5]), info("c", B, [])],
        [info("y", F, [])],
    )
    with pytest.raises(UserError, match=r"node 'inside' \(MaxRoiPool, opset 17\): attribute 'pooled_shape'"):
        convert(path, str(tmp_path / "m.pmodel"))
    model = onnx.load(str(path))
    branches = {attribute.name: attribute.g for attribute in model.graph.node[0].attribute}
    branches["then_branch"].CopyFrom(other)
    del branches["else_branch"].output[:]
    onnx.save(model, path)
    with pytest.raises(UserError, match=r"\(If, opset 17\): its branches give 1 and 0 tensors"):
        convert(path, str(tmp_path / "m.pmodel"))
    branches["else_branch"].CopyFrom(helper.make_graph([], "else", [], [info("nowhere", F, [])]))
    onnx.save(model, path)
    with pytest.raises(UserError, match="'nowhere' is defined nowhere"):
        convert(path, str(tmp_path / "m.pmodel"))


def _with_unknown(kind):
    """The node, with an operator inside that the importer lacks."""
    node, make = helper.make_node, helper.make_graph
    if kind == "If":
        yes = make([node("Foo", ["x"], ["p"], name="inside", domain="my.own")], "yes", [], [info("p", F, [4])])
        no = make([node("Neg", ["x"], ["q"])], "no", [], [info("q", F, [4])])
        return node("If", ["c"], ["y"], then_branch=yes, else_branch=no)
    foo = node("Foo", ["v"], ["w"], name="inside", domain="my.own")
    if kind == "Scan":
        more = [node("Add", ["w", "e"], ["s"]), node("Identity", ["s"], ["o"])]
        body = make([foo, *more], "body", [info("v", F, []), info("e", F, [])], [info("s", F, []), info("o", F, [])])
        return node("Scan", ["z", "x"], ["r", "y"], body=body, num_scan_inputs=1)
    inputs = [info("i", I, []), info("k", B, []), info("v", F, [4])]
    body = make([foo, node("Identity", ["k"], ["l"])], "body", inputs, [info("l", B, []), info("w", F, [4])])
    return node("Loop", ["three" if kind == "Loop of three" else "t", "", "x"], ["y"], body=body)


@pytest.mark.parametrize("kind", ["If", "Loop", "Loop of three", "Scan"])
def test_unknown_operators_in_bodies_are_one_error(kind, tmp_path):
    """File, node, operator and reason, once."""
    path = tmp_path / "m.onnx"
    weights = [numpy_helper.from_array(np.float32(0), "z"), numpy_helper.from_array(np.int64(3), "three")]
    inputs = [info("x", F, [4]), info("c", B, []), info("t", I, [])]
    graph = helper.make_graph([_with_unknown(kind)], "g", inputs, [info("y", F, [4])], weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.own", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    with pytest.raises(UserError) as error:
        convert(path, str(tmp_path / "m.pmodel"))
    assert str(error.value) == f"{path}: node 'inside' (my.own.Foo, opset 1): is not supported"
    assert not (tmp_path / "m.pmodel").exists()

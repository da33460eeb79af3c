"""Strings: inputs, outputs, constants and what is between them, beside onnxruntime or numpy."""

import subprocess
import sys

import numpy as np
import onnx
import onnx.reference
import onnxruntime as ort
import pytest
from graphs import B, F, I, info, weight
from onnx import TensorProto, helper, numpy_helper
from onnx.helper import make_node as node
from pto_mlir import compiler, npz
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, InvalidArgument, RuntimeFailure

S = TensorProto.STRING
WORDS = ["b", "", "ä", "b", "with\0zero", "a long string that no small buffer holds", "A", "1.5"]


def words(*shape, seed=0):
    return np.random.default_rng(seed).choice(np.array(WORDS, object), shape)


def build(path, nodes, inputs, outputs, constants=(), opset=20, checked=True):
    model = helper.make_model(
        helper.make_graph(nodes, "main", inputs, outputs, list(constants)),
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=9,
    )
    if checked:
        onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path / "m.onnx")
    compiler.transform(str(path / "m.onnx"), "m", None, [], str(path / "m.mlir"), "")
    compiler.deploy(str(path / "m.mlir"), str(path / "m.pmodel"), "F32", "a3", 1, False)
    return InferenceSession(str(path / "m.pmodel"))


def check(path, nodes, inputs, outputs, feeds, constants=(), opset=20):
    session = build(path, nodes, inputs, outputs, constants, opset)
    reference = ort.InferenceSession(str(path / "m.onnx"))
    for feed in feeds:
        for ours, expected in zip(session.run(None, feed), reference.run(None, feed), strict=True):
            assert ours.dtype == expected.dtype
            np.testing.assert_array_equal(ours, expected)


MOVES = {
    "Reshape": ([node("Reshape", ["x", "c"], ["y"])], np.array([2, 12], np.int64)),
    "Transpose": ([node("Transpose", ["x"], ["y"], perm=[1, 0])], None),
    "Gather": ([node("Gather", ["x", "c"], ["y"], axis=1)], np.array([[0, -1], [2, 2]], np.int64)),
    "GatherElements": ([node("GatherElements", ["x", "c"], ["y"], axis=1)], np.array([[0], [-1], [5], [2]], np.int64)),
    "GatherND": ([node("GatherND", ["x", "c"], ["y"])], np.array([[0, 1], [3, 2]], np.int64)),
    "Concat": ([node("Concat", ["x", "x"], ["y"], axis=1)], None),
    "Split": ([node("Split", ["x", "c"], ["z", "y"], axis=1)], np.array([2, 4], np.int64)),
    "Slice": (
        [
            node("Constant", [], ["e"], value_ints=[-9]),
            node("Slice", ["x", "c", "e", "m", "c"], ["y"]),
        ],
        np.array([-1], np.int64),
    ),
    "Expand": ([node("Expand", ["x", "c"], ["y"])], np.array([2, 1, 1], np.int64)),
    "Tile": ([node("Tile", ["x", "c"], ["y"])], np.array([2, 1], np.int64)),
    "Squeeze": ([node("Unsqueeze", ["x", "c"], ["u"]), node("Squeeze", ["u"], ["y"])], np.array([1], np.int64)),
    "Unique": ([node("Unique", ["x"], ["y", "i", "n", "k"])], None),
    "Compress": ([node("Compress", ["x", "c"], ["y"], axis=0)], np.array([True, False, True, True])),
    "Identity": ([node("Identity", ["x"], ["y"])], None),
}


@pytest.mark.parametrize("name", sorted(MOVES))
def test_moves(tmp_path, name):
    nodes, constant = MOVES[name]
    constants = [] if constant is None else [weight("c", constant), weight("m", np.array([1], np.int64))]
    outputs = [helper.make_empty_tensor_value_info(n) for n in ("y", "n") if any(n in o.output for o in nodes)]
    for output, kind in zip(outputs, (S, I), strict=False):
        output.type.tensor_type.elem_type = kind
    session = build(tmp_path, nodes, [info("x", S, [4, 6])], outputs, constants, checked=False)
    x = words(4, 6)
    expected = onnx.reference.ReferenceEvaluator(str(tmp_path / "m.onnx")).run(None, {"x": x})
    for ours, theirs in zip(session.run(None, {"x": x}), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_comparisons_choices_and_updates(tmp_path):
    nodes = [
        node("Equal", ["x", "b"], ["same"]),
        node("Where", ["same", "x", "c"], ["w"]),
        node("ScatterElements", ["w", "i", "u"], ["y"], axis=1),
        node("Shape", ["x"], ["s"]),
    ]
    constants = [
        numpy_helper.from_array(np.array("b", object), "b"),
        numpy_helper.from_array(np.array(["", "\U0001f600", "z"], object), "c"),
        weight("i", np.array([[0], [2]], np.int64)),
        numpy_helper.from_array(np.array([["first"], ["second"]], object), "u"),
    ]
    outputs = [info("same", B, [2, 3]), info("y", S, [2, 3]), info("s", I, [2])]
    check(tmp_path, nodes, [info("x", S, [2, 3])], outputs, [{"x": words(2, 3, seed=s)} for s in range(3)], constants)


def test_control_flow(tmp_path):
    """A string that a loop carries, rows that it collects, and one that a branch chooses."""
    body = helper.make_graph(
        [
            node("StringConcat", ["s", "x"], ["t"]),
            node("Identity", ["t"], ["row"]),
            node("Identity", ["go"], ["on"]),
        ],
        "body",
        [info("k", I, []), info("go", B, []), info("s", S, [2])],
        [info("on", B, []), info("t", S, [2]), info("row", S, [2])],
    )
    then, other = (
        helper.make_graph([node("Identity", [name], [f"{name}_out"])], name, [], [info(f"{name}_out", S, [2])])
        for name in ("all", "x")
    )
    nodes = [
        node("Loop", ["n", "", "start"], ["all", "rows"], body=body),
        node("If", ["which"], ["chosen"], then_branch=then, else_branch=other),
    ]
    start = numpy_helper.from_array(np.array(["<", ""], object), "start")
    inputs = [info("x", S, [2]), info("n", I, []), info("which", B, [])]
    outputs = [info("all", S, [2]), info("rows", S, ["n", 2]), info("chosen", S, [2])]
    feeds = [{"x": words(2, seed=s), "n": np.array(n), "which": np.array(bool(n % 2))} for s, n in enumerate((0, 1, 3))]
    check(tmp_path, nodes, inputs, outputs, feeds, [start])


@pytest.mark.parametrize("change", ["NONE", "LOWER", "UPPER"])
@pytest.mark.parametrize("sensitive", [0, 1])
@pytest.mark.parametrize("stops", [None, ["mon", "ÉA"]])
def test_normalizer(tmp_path, change, sensitive, stops):
    attributes = {} if stops is None else {"stopwords": stops}
    nodes = [
        node(
            "StringNormalizer",
            ["x"],
            ["y"],
            locale="C.UTF-8",
            case_change_action=change,
            is_case_sensitive=sensitive,
            **attributes,
        )
    ]
    x = np.array(["Mon", "éa", "straße", "mon", "Tue"], object)
    check(tmp_path, nodes, [info("x", S, [5])], [info("y", S, ["n"])], [{"x": x}, {"x": x[[0, 3, 0, 3, 0]]}])


@pytest.mark.parametrize("delimiter", [None, "", ",", "ab"])
@pytest.mark.parametrize("most", [None, 0, 1, 2])
def test_split(tmp_path, delimiter, most):
    attributes = {name: v for name, v in (("delimiter", delimiter), ("maxsplit", most)) if v is not None}
    nodes = [node("StringSplit", ["x"], ["y", "n"], **attributes), node("Identity", ["y"], ["z"])]
    x = np.array([["a,b ,c", " ab cabab"], ["", "\t d\u2003e  f "]], object)
    outputs = [info("y", S, [2, 2, "n"]), info("n", I, [2, 2])]
    ours, counts = build(tmp_path, nodes, [info("x", S, [2, 2])], outputs).run(None, {"x": x})
    parts = [text.split(delimiter or None, -1 if most is None else most) for text in x.flat]
    longest = max(len(own) for own in parts)
    assert ours.reshape(-1, longest).tolist() == [own + [""] * (longest - len(own)) for own in parts]
    assert counts.reshape(-1).tolist() == [len(own) for own in parts]


def test_a_pattern_and_the_work_of_engines_behind_it(tmp_path):
    nodes = [
        node("RegexFullMatch", ["x"], ["m"], pattern=r"(\w+)@(\w+\.)+(com|org)"),
        node("Cast", ["m"], ["f"], to=F),
        node("Mul", ["f", "v"], ["y"]),
    ]
    x = np.array(["a@b.com", "a@b.c.org", "@b.com", "a@b.comx", "é@b.com"], object)
    feed = {"x": x, "v": np.arange(5, dtype=np.float32)}
    check(tmp_path, nodes, [info("x", S, [5]), info("v", F, [5])], [info("y", F, [5])], [feed])


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
def test_n_grams(tmp_path, mode):
    nodes = [
        node(
            "TfIdfVectorizer",
            ["x"],
            ["y"],
            mode=mode,
            min_gram_length=1,
            max_gram_length=2,
            max_skip_count=1,
            pool_strings=["a", "b", "ä", "a", "b", "b", "ä"],
            ngram_counts=[0, 3],
            ngram_indexes=[0, 1, 2, 4, 3],
            weights=[1.0, 2.0, 0.5, 1.5, 3.0],
        )
    ]
    x = np.random.default_rng(1).choice(np.array(["a", "b", "ä", "other"], object), (3, 12))
    check(tmp_path, nodes, [info("x", S, [3, 12])], [info("y", F, [3, 5])], [{"x": x}])


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.float64, np.int8, np.uint8, np.int64, np.uint64, np.bool_])
def test_casts(tmp_path, kind):
    element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    values = np.array([0, 1, 100, 7, 3]).astype(kind)
    if np.dtype(kind).kind == "f":
        values = np.array([0.1, -0.0, np.nan, np.inf, 1 / 3], kind)
    nodes = [node("Cast", ["x"], ["t"], to=S), node("Cast", ["t"], ["y"], to=element)]
    outputs = [info("t", S, [5]), info("y", element, [5])]
    check(tmp_path, nodes, [info("x", element, [5])], outputs, [{"x": values}])


def test_a_text_that_is_no_number_is_an_error(tmp_path):
    session = build(tmp_path, [node("Cast", ["x"], ["y"], to=I)], [info("x", S, [2])], [info("y", I, [2])])
    assert session.run(None, {"x": ["12", "-3"]})[0].tolist() == [12, -3]
    with pytest.raises(RuntimeFailure, match="string 1 is no number of type i64"):
        session.run(None, {"x": ["12", "x"]})


def test_what_inputs_may_be(tmp_path):
    session = build(tmp_path, [node("Identity", ["x"], ["y"])], [info("x", S, [2])], [info("y", S, [2])])
    assert session.get_inputs()[0].type == "tensor(string)"
    for x in (["a", "ä"], np.array(["a", "ä"]), np.array(["a", "ä".encode()], object), np.array([b"a", b"b"])):
        ours = session.run(["y"], {"x": x})[0]
        assert ours.dtype == object
        assert ours.tolist() == [text.decode() if isinstance(text, bytes) else text for text in x]
    assert session.run(None, {"x": [b"\xff\0", ""]})[0][0].encode(errors="surrogateescape") == b"\xff\0"
    with pytest.raises(InvalidArgument, match="hold strings, not int"):
        session.run(None, {"x": np.array(["a", 3], object)})
    with pytest.raises(InvalidArgument, match="'x': expects string 2, got f32 2"):
        session.run(None, {"x": np.zeros(2, np.float32)})
    with pytest.raises(InvalidArgument, match="'x': expects string 2, got string 3"):
        session.run(None, {"x": ["a", "b", "c"]})


def test_runs_leave_nothing_behind(tmp_path):
    """A session whose strings grow without end would fail at a gigabyte of them."""
    session = build(tmp_path, [node("StringConcat", ["x", "x"], ["y"])], [info("x", S, [1])], [info("y", S, [1])])
    for k in range(3):
        text = str(k) * 250_000_000
        assert session.run(None, {"x": [text]})[0][0] == text + text


def test_empty_tensors(tmp_path):
    nodes = [node("StringSplit", ["x"], ["y", "n"]), node("Concat", ["x", "c"], ["z"], axis=0)]
    constants = [numpy_helper.from_array(np.array(["a"], object), "c")]
    outputs = [info("y", S, [0, 0]), info("n", I, [0]), info("z", S, [1])]
    y, n, z = build(tmp_path, nodes, [info("x", S, [0])], outputs, constants).run(None, {"x": np.array([], object)})
    assert (y.shape, n.shape, z.tolist()) == ((0, 0), (0,), ["a"])


def test_strings_that_nothing_reads(tmp_path):
    nodes = [node("Relu", ["v"], ["y"]), node("Shape", ["x"], ["s"])]
    session = build(tmp_path, nodes, [info("x", S, [2]), info("v", F, [3])], [info("y", F, [3]), info("s", I, [1])])
    y, s = session.run(None, {"x": ["a", "b"], "v": np.array([-1, 2, 3], np.float32)})
    assert (y.tolist(), s.tolist()) == ([0, 2, 3], [2])


def test_tools(tmp_path):
    """The file says what it takes, and model_runner reads and writes strings as numpy's text type."""
    build(tmp_path, [node("StringConcat", ["x", "x"], ["y"])], [info("x", S, [2])], [info("y", S, [2])])
    npz.save(tmp_path / "in.npz", {"x": np.array(["a", "ä"], object)})
    names = {"--input": "in.npz", "--model": "m.pmodel", "--output": "out.npz"}
    options = [word for option, name in names.items() for word in (option, str(tmp_path / name))]
    subprocess.run([sys.executable, "-m", "pto_mlir.tools.model_runner", *options], check=True)
    assert npz.load(tmp_path / "out.npz")["y"].tolist() == ["aa", "ää"]
    with pytest.raises(UserError, match="zero character"):
        npz.save(tmp_path / "in.npz", {"x": np.array(["a\0"], object)})


@pytest.mark.parametrize(
    "made, message",
    [
        (node("Add", ["x", "x"], ["y"]), "input 'x' holds strings, which the operator does not take"),
        (node("RegexFullMatch", ["x"], ["y"], pattern="a**"), "attribute 'pattern' repeats a repetition: "),
        (node("RegexFullMatch", ["x"], ["y"], pattern=r"\pL"), "has a class of Unicode"),
        (node("StringNormalizer", ["x"], ["y"], case_change_action="Up"), "'case_change_action' = 'Up' is not known"),
    ],
)
def test_refusals(tmp_path, made, message):
    graph = helper.make_graph([made], "g", [info("x", S, [2])], [helper.make_empty_tensor_value_info("y")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), tmp_path / "m.onnx")
    with pytest.raises(UserError, match=message.replace("*", r"\*")):
        compiler.transform(str(tmp_path / "m.onnx"), "m", None, [], str(tmp_path / "m.mlir"), "")


def test_a_constant_of_another_number_of_strings(tmp_path):
    bad = TensorProto(name="c", data_type=S, dims=[3], string_data=[b"a"])
    graph = helper.make_graph([node("Identity", ["c"], ["y"])], "g", [], [info("y", S, [3])], [bad])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), tmp_path / "m.onnx")
    with pytest.raises(UserError, match="initializer 'c': has 1 strings, which is not what its shape says"):
        compiler.transform(str(tmp_path / "m.onnx"), "m", None, [], str(tmp_path / "m.mlir"), "")

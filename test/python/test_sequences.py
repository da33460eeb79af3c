"""Sequences and optionals of known lengths, as inputs, outputs and inside of a model."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import backend, compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, RuntimeFailure

N = helper.make_node
FLOAT = TensorProto.FLOAT


def tensor(name, *shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def sequence(name):
    return helper.make_tensor_sequence_value_info(name, FLOAT, None)


def model(nodes, inputs, outputs, weights=None):
    weights = [numpy_helper.from_array(value, name) for name, value in (weights or {}).items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def test_inside_of_a_model(tmp_path):
    """Split, changed in the middle and put together again, through the commands' functions."""
    nodes = [
        N("SplitToSequence", ["x", "two"], ["s"], axis=1),
        N("SequenceAt", ["s", "last"], ["a"]),
        N("Relu", ["a"], ["b"]),
        N("SequenceErase", ["s", "last"], ["t"]),
        N("SequenceInsert", ["t", "b", "zero"], ["u"]),
        N("ConcatFromSequence", ["u"], ["y"], axis=1),
        N("SequenceLength", ["u"], ["n"]),
    ]
    weights = {"two": np.int64(2), "last": np.int64(-1), "zero": np.int64(0)}
    made = model(nodes, [tensor("x", 3, 5)], [tensor("y", 3, 5), tensor("n", kind=TensorProto.INT64)], weights)
    onnx.save(made, tmp_path / "m.onnx")
    compiler.transform(str(tmp_path / "m.onnx"), "m", None, [], str(tmp_path / "m.mlir"), "")
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), "F32", "a3", 1, False)
    x = np.random.default_rng(0).standard_normal((3, 5), np.float32)
    y, n = InferenceSession(tmp_path / "m.pmodel", threads=1).run(None, {"x": x})
    np.testing.assert_array_equal(y, np.concatenate([np.maximum(x[:, 4:], 0), x[:, :4]], 1))
    assert n == 3


def test_inputs_and_outputs():
    """Another number of elements is compiled anew; a position is compiled for."""
    inputs = [sequence("s"), tensor("x", 2), tensor("p", kind=TensorProto.INT64)]
    rep = backend.prepare(model([N("SequenceInsert", ["s", "x", "p"], ["y"])], inputs, [sequence("y")]))
    x, parts = np.float32([1, 2]), [np.float32([i, i]) for i in range(3)]
    for count, place in [(3, 1), (2, -1), (3, 3)]:
        wanted = parts[:count]
        wanted.insert(place, x)
        (got,) = rep.run([parts[:count], x, np.int64(place)])
        np.testing.assert_array_equal(got, wanted)
        assert rep.specialised == ["p"]
    with pytest.raises(UserError, match="position 4 of 3 elements"):
        rep.run([parts, x, np.int64(4)])


def loop(trips):
    """Appends the trip's number to a sequence, and its square to a list of rows."""
    body = helper.make_graph(
        [
            N("Identity", ["c"], ["d"]),
            N("Cast", ["i"], ["f"], to=FLOAT),
            N("Add", ["f", "x"], ["e"]),
            N("SequenceInsert", ["s", "e"], ["t"]),
            N("Mul", ["e", "e"], ["q"]),
        ],
        "body",
        [tensor("i", kind=TensorProto.INT64), tensor("c", kind=TensorProto.BOOL), sequence("s")],
        [tensor("d", kind=TensorProto.BOOL), sequence("t"), tensor("q", 2)],
    )
    nodes = [N("SequenceEmpty", [], ["z"]), N("Loop", ["m", "", "z"], ["u", "r"], body=body)]
    nodes.append(N("ConcatFromSequence", ["u"], ["y"], axis=0, new_axis=1))
    return model(nodes, [tensor("x", 2)], [tensor("y", trips, 2), tensor("r", trips, 2)], {"m": np.int64(trips)})


def test_unrolled_loops():
    x = np.float32([0.5, 2])
    y, r = backend.run_model(loop(4), [x])
    wanted = x + np.arange(4, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(r, wanted**2)
    with pytest.raises(UserError, match="257 trips with a sequence; at most 256"):
        backend.run_model(loop(257), [x])


def test_optionals():
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(FLOAT, [2]))
    made = model(
        [N("OptionalHasElement", ["o"], ["y"])],
        [helper.make_value_info("o", kind)],
        [tensor("y", kind=TensorProto.BOOL)],
    )
    rep = backend.prepare(made)
    assert rep.run([np.float32([1, 2])])[0] and not rep.run([None])[0]


def test_what_is_known_at_run_time_only(tmp_path):
    """The error says what has to be constant."""
    nodes = [N("SplitToSequence", ["x"], ["s"]), N("SequenceAt", ["s", "p"], ["y"])]
    made = model(nodes, [tensor("x", 3, 5), tensor("p", kind=TensorProto.INT64)], [tensor("y", 1, 5)])
    onnx.save(made, tmp_path / "m.onnx")
    with pytest.raises(UserError, match=r"without its sequences: node of output 'y' \(SequenceAt\): the position must"):
        compiler.transform(str(tmp_path / "m.onnx"), "m", None, [], str(tmp_path / "m.mlir"), "")


def _transformed(nodes, inputs, outputs, weights, folder):
    onnx.save(model(nodes, inputs, outputs, weights), folder / "m.onnx")
    compiler.transform(str(folder / "m.onnx"), "m", None, [], str(folder / "m.mlir"), "")
    compiler.deploy(str(folder / "m.mlir"), str(folder / "m.pmodel"), "F32", "a3", 1, False)
    return InferenceSession(folder / "m.pmodel", threads=1)


@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.INT32])
def test_split_by_sizes_of_a_run(kind, tmp_path):
    """The parts have the sizes of each run; sizes that do not add up are an error of the run."""
    nodes = [
        N("SplitToSequence", ["x", "sizes"], ["s"], axis=1, name="split"),
        N("SequenceAt", ["s", "first"], ["a"]),
        N("SequenceAt", ["s", "last"], ["b"]),
        N("Neg", ["b"], ["c"]),
    ]
    inputs = [tensor("x", 2, 7), tensor("sizes", 3, kind=kind)]
    weights = {"first": np.int64(0), "last": np.int64(-1)}
    session = _transformed(nodes, inputs, [tensor("a", 2, None), tensor("c", 2, None)], weights, tmp_path)
    x = np.random.default_rng(0).standard_normal((2, 7), np.float32)
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    for sizes in ([2, 1, 4], [0, 3, 4], [7, 0, 0]):
        a, c = session.run(None, {"x": x, "sizes": np.array(sizes, dtype)})
        np.testing.assert_array_equal(a, x[:, : sizes[0]])
        np.testing.assert_array_equal(c, -x[:, 7 - sizes[2] :])
    for sizes, text in (([2, 1, 3], "add up to 6, not to 7"), ([9, -1, -1], "do not add up to 7")):
        with pytest.raises(RuntimeFailure, match=text):
            session.run(None, {"x": x, "sizes": np.array(sizes, dtype)})


def test_an_empty_tensor_has_parts():
    """A size of 0 is known, which one that is not known is not."""
    nodes = [
        N("SplitToSequence", ["x", "sizes"], ["s"]),
        N("SequenceLength", ["s"], ["listed"]),
        N("SplitToSequence", ["x"], ["t"]),
        N("SequenceLength", ["t"], ["single"]),
    ]
    inputs = [tensor("x", "n"), tensor("sizes", 3, kind=TensorProto.INT64)]
    outputs = [tensor(name, kind=TensorProto.INT64) for name in ("listed", "single")]
    rep = backend.prepare(model(nodes, inputs, outputs))
    assert list(rep.run([np.zeros(0, np.float32), np.zeros(3, np.int64)])) == [3, 0]
    assert list(rep.run([np.zeros(2, np.float32), np.array([2, 0, 0])])) == [3, 2]


def test_a_length_of_parts_of_a_run_is_refused(tmp_path):
    """How many parts there are would follow from it."""
    nodes = [N("SplitToSequence", ["x", "n"], ["s"], name="split"), N("SequenceAt", ["s", "p"], ["y"])]
    inputs = [tensor("x", 3, 5), tensor("n", kind=TensorProto.INT64)]
    with pytest.raises(
        UserError, match=r"\(SplitToSequence\): the split must be constant, or .* a list of known length"
    ):
        _transformed(nodes, inputs, [tensor("y", 1, 5)], {"p": np.int64(0)}, tmp_path)

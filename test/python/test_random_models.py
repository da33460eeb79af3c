"""Random graphs of many operators (test/random_graphs) beside onnxruntime and float64. 20,000: docs/regression.md."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

sys.path.append(str(Path(__file__).resolve().parents[1]))
from random_graphs import check, command, generate, reducer, references, workers  # noqa: E402
from random_graphs.exact import Unusable, trace  # noqa: E402
from random_graphs.model import Graph  # noqa: E402

TARGET = check.Target("a3", 1, "F32")


def test_every_operator_is_drawn():
    """An operator that the importer gains needs a recipe, unless its schema is enough, or a reason in LEFT_OUT."""
    for op in generate.all_operators():
        assert op in {node.op_type for node in generate.one_of(op).nodes}


def test_a_seed_is_a_graph():
    first, again = (generate.generate(4).model().SerializeToString(deterministic=True) for _ in range(2))
    assert first == again


def _chain(*ops: str) -> Graph:
    names = ["x", *(f"v{i}" for i in range(len(ops)))]
    nodes = [helper.make_node(op, [a], [b], name=b) for op, a, b in zip(ops, names, names[1:])]
    return Graph(nodes, {"x": np.array([0.25, 3.5, -2], np.float32)}, {}, names[-1:], {n: 1 for n in names}, 21)


def test_near_a_discontinuity():
    """exp(0) is 1 but for an error; exactly 3.5 is as good as any other number."""
    trace(_chain("Round"), "F16")
    graph = _chain("Exp", "Floor")
    graph.inputs["x"] = np.zeros(3, np.float32)
    with pytest.raises(Unusable):
        trace(graph, "F16")


def test_two_values_near_to_each_other():
    """Moved values stay unlike, those that rounded may not. A value is equal to itself, whatever error it has."""
    names = ["x", "e", "y"]
    nodes = [helper.make_node("Exp", ["x"], ["e"]), helper.make_node("Equal", ["e", "w"], ["y"])]
    kinds = {"x": 1, "w": 1, "e": 1, "y": 9}
    graph = Graph(nodes, {"x": np.float32([1])}, {"w": np.float32([2.7183])}, names[-1:], kinds, 21)
    with pytest.raises(Unusable):
        trace(graph, "F16")
    assert not trace(graph, "F32")["y"].array
    graph.nodes[1].input[1] = "e"
    assert trace(graph, "F16")["y"].array


def test_the_mean_that_a_normalisation_takes_away():
    """Of values that are large beside their differences it is as wrong as they are."""
    x = np.float32([[[[1000, 1001, 1003]]]])
    made = [trace(_node("MeanVarianceNormalization", {"x": x - c}, axes=[2, 3]), "F32")["y0"] for c in (0, 1001)]
    assert np.max(made[0].error) > 100 * np.max(made[1].error)


def test_where_the_reference_is_wrong():
    """Groups of a transposed convolution, integers beyond 2^53, weights of a cubic Resize, statistics of groups."""
    x, w, b = _drawn([2, 6, 3, 4]), _drawn([6, 5, 2, 3]), _drawn([10])
    graph = _node("ConvTranspose", {"x": x, "w": w, "b": b}, group=2)
    np.testing.assert_allclose(trace(graph, "F32")["y0"].array, references.onnxruntime_outputs(graph)["y0"], rtol=1e-5)
    a = np.array([[2**64 - 3, 5]], np.uint64)
    product = trace(_node("Gemm", {"a": a, "b": np.array([[3], [1]], np.uint64)}, kinds=[13]), "F32")["y0"].array
    assert product.tolist() == [[2**64 - 4]]
    more = {"mode": "cubic", "coordinate_transformation_mode": "align_corners"}
    graph = _node("Resize", {"x": np.float32([[[[0, 1, 0, 0]]]]), "s": np.float32([1, 1, 1, 1.5])}, **more)
    graph.nodes[0].input[:] = ["x", "", "s"]
    at = 2 * 3 / 5 - 1
    assert abs(trace(graph, "F32")["y0"].array[0, 0, 0, 2] - ((1.25 * at - 2.25) * at * at + 1)) < 1e-12
    inputs = {"x": np.array([[2**64 - 5, 3]], np.uint64), "s": np.float32([1, 2])}
    graph = _node("Resize", inputs, kinds=[13], mode="nearest", coordinate_transformation_mode="asymmetric")
    graph.nodes[0].input[:] = ["x", "", "s"]
    assert trace(graph, "F32")["y0"].array.tolist() == [[2**64 - 5, 2**64 - 5, 3, 3]]
    for opset, scale in ((18, [-2, 3]), (21, [-2, -2, 3, 3])):
        inputs = {"x": np.float32([[[2.5], [1.5], [0], [0]]]), "s": np.float32(scale), "b": np.float32(scale)}
        graph = _node("GroupNormalization", inputs, opset=opset, epsilon=0.25, num_groups=2)
        wanted = [-2 - 2**0.5, -2 + 2**0.5, 3, 3]  # the variances are 1/4 and 0
        np.testing.assert_allclose(trace(graph, "F32")["y0"].array.ravel(), wanted, rtol=1e-14)


def test_a_fault_of_a_checked_run_is_wrong(monkeypatch):
    seed, modes = 0, []

    def race(path, threads, mode):
        modes.append(mode)
        raise check.RuntimeFailure("a race")

    monkeypatch.setattr(check, "InferenceSession", race)
    outcome = command.attempt((seed, False, True))
    assert (outcome.status, outcome.reason) == ("wrong", "a race")
    assert command.attempt((seed, False, False)).status == "refused"
    assert modes == ["checked", "functional"]


def test_a_wrong_number_is_found_and_reduced(monkeypatch):
    graph, real = _chain("Neg", "Exp", "Abs", "Sqrt", "Relu"), check.run

    def broken(candidate, target):
        """Where something computes an Exp, 2 % too much."""
        is_there = any(node.op_type == "Exp" for node in candidate.nodes)
        return {name: value * (1.02 if is_there else 1) for name, value in real(candidate, target).items()}

    monkeypatch.setattr(check, "run", broken)
    outcome = check.check(graph, [TARGET])
    assert outcome.status == "wrong" and "(Relu): 3 of 3 differ" in outcome.reason
    small = reducer.reduce(graph, outcome, [TARGET])
    assert [node.op_type for node in small.nodes] == ["Exp"]
    text = reducer.python_text(small, outcome, [TARGET])
    assert len(text.splitlines()) < 12
    printed = []
    exec(text, {"print": printed.append})
    assert printed[0].status == "wrong"


def test_crashes_and_time_outs():
    def work(task):
        if task == "dies":
            os._exit(3)
        while task == "hangs":
            pass
        return check.Outcome("right")

    made = dict(workers.each(["fine", "dies", "hangs", "fine too"], work, 2, 2))
    assert [made[task].status for task in ("fine", "dies", "hangs", "fine too")] == [
        "right",
        "crashed",
        "timed out",
        "right",
    ]


def _node(op: str, inputs: dict, weights=(), kinds=(1,), opset: int = 21, **attributes) -> Graph:
    """One node; the kinds of its outputs, and of inputs, by their arrays."""
    outputs = [f"y{i}" for i in range(len(kinds))]
    of_arrays = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in inputs.items()}
    node = helper.make_node(op, list(inputs), outputs, name="n", **attributes)
    given = {name: value for name, value in inputs.items() if name not in weights}
    fixed = {name: inputs[name] for name in weights}
    return Graph([node], given, fixed, outputs, of_arrays | dict(zip(outputs, kinds)), opset)


def _drawn(shape, dtype="float32", low: int = -9, high: int = 9) -> np.ndarray:
    return np.asarray(np.random.default_rng(2).integers(low, high, shape) / (4 if "f" in dtype else 1)).astype(dtype)


I16, I32, I64, U8, U32 = "int16", "int32", "int64", "uint8", "uint32"
# What random graphs found: wrong, refused, or for ever.
FOUND = {
    "Gelu of f16": _node("Gelu", {"x": _drawn([6, 7], "float16")}, kinds=[10]),
    "Gelu of f16 by tanh": _node("Gelu", {"x": _drawn([6, 7], "float16")}, kinds=[10], approximate="tanh"),
    "Mish where exp overflows f16": _node("Mish", {"x": _drawn([6, 7], "float16", -160, 160)}, kinds=[10]),
    "Gelu where erf is -1": _node("Gelu", {"x": np.array([-6, -3.5], np.float32)}),
    "a bias of integers that is none": _node("Shrink", {"x": _drawn([40], I16)}, kinds=[5], bias=0.25, lambd=1.5),
    "a bias of unsigned integers": _node("Shrink", {"x": _drawn([40], U8, 0)}, kinds=[2], bias=0.25, lambd=1.5),
    "products of one without it": _node(
        "CumProd", {"x": _drawn([3, 1], I32), "a": np.array(1)}, ["a"], [6], 26, exclusive=1
    ),
    "order of unsigned numbers": _node("TopK", {"x": _drawn([30], U32, 0, 2**31), "k": np.array([7])}, ["k"], [12, 7]),
    "a pad value of a run": _node("Pad", {"x": _drawn([3, 4]), "p": np.array([1, 0, 2, 3]), "v": _drawn([])}, ["p"]),
    "no weights but narrow ones": _node(
        "TensorScatter",
        {"x": _drawn([3, 2, 8, 16], I16), "u": _drawn([3, 2, 3, 16], I16), "w": _drawn([3], I64, 0, 5)},
        ["u"],
        [5],
        24,
        axis=2,
    ),
    "places in a constant": _node("NonZero", {"x": _drawn([1, 8, 3, 3], "float64")}, ["x"], [7]),
    "places in a large constant": Graph(
        [helper.make_node("Reshape", ["x", "s"], ["r"]), helper.make_node("NonZero", ["r"], ["y"])],
        {},
        {"x": _drawn([4, 96], "float64"), "s": np.array([96, 4])},
        ["y"],
        {"x": 11, "s": 7, "r": 11, "y": 7},
        21,
    ),
    "sums of 16-bit numbers at places": _node(
        "ScatterElements",
        {"x": _drawn([16, 3, 6], I16), "i": _drawn([16, 3, 1], I64, 0, 6), "u": _drawn([16, 3, 1], I16)},
        kinds=[5],
        axis=2,
        reduction="add",
    ),
    "a shape of nothing": _node("Shape", {"x": _drawn([])}, kinds=[7]),
    "channels of nothing": _node("DepthToSpace", {"x": _drawn([0, 8, 2, 3])}, blocksize=2),
    "rows of 16-bit numbers below zero": _node(
        "TopK", {"x": _drawn([4, 6, 2, 5], I16), "k": np.array([2])}, ["k"], [5, 7], axis=2
    ),
    "the least of 16-bit numbers above zero": _node(
        "TopK", {"x": _drawn([3, 5], I16, 1), "k": np.array([4])}, ["k"], [5, 7], largest=0
    ),
    "backwards through nothing": _node(
        "Slice",
        {"x": _drawn([8, 9, 0]), "b": np.array([0]), "e": np.array([-5]), "a": np.array([2]), "s": np.array([-1])},
        ["b", "e", "a", "s"],
    ),
    "convolution of no channels": _node("Conv", {"x": _drawn([2, 0, 5, 7]), "w": _drawn([2, 0, 4, 3])}),
    "transposed convolution of no channels": _node(
        "ConvTranspose", {"x": _drawn([2, 0, 5, 7]), "w": _drawn([0, 2, 4, 3]), "b": _drawn([2])}
    ),
    "convolution of padding alone": _node(
        "Conv", {"x": _drawn([5, 6, 0, 7]), "w": _drawn([4, 3, 3, 2]), "b": _drawn([4])}, group=2, pads=[2, 0, 1, 0]
    ),
    "no window of nothing": _node(
        "LpPool", {"x": _drawn([0, 0, 11, 0])}, kernel_shape=[3, 1], pads=[0, 0, 1, 0], strides=[3, 1]
    ),
    "sums of no elements": _node("CumSum", {"x": _drawn([0, 3]), "a": np.array(0)}, ["a"], exclusive=1),
    "more channels than images": _node("LRN", {"x": _drawn([2, 8, 2, 5])}, alpha=0.5, size=5),
    "product of nothing and a bias": _node(
        "Gemm", {"a": _drawn([0, 33]), "b": _drawn([17, 0]), "c": _drawn([17])}, transA=1, transB=1
    ),
    "means of nothing": _node("MeanVarianceNormalization", {"x": _drawn([2, 3, 0, 4])}),
    "a stride that passes the image": _node(
        "Conv",
        {"x": _drawn([2, 3, 1, 1]), "w": _drawn([3, 1, 1, 1])},
        strides=[2, 1],
        dilations=[3, 1],
        group=3,
    ),
    "strides along one channel": _node(
        "MaxPool", {"x": _drawn([17, 1, 8])}, kernel_shape=[3], strides=[4], pads=[2, 1]
    ),
    "places of two nodes without names": Graph(
        [
            helper.make_node("GridSample", ["x", "g"], ["y"], align_corners=0, mode="linear", padding_mode="border"),
            helper.make_node("ReverseSequence", ["z", "l"], ["r"], batch_axis=1, time_axis=0),
            helper.make_node("Sin", ["r"], ["s"]),
        ],
        {
            "x": _drawn([5, 3, 8, 1]),
            "g": _drawn([5, 1, 3, 2], low=-4, high=4),
            "z": _drawn([5, 3, 8, 1]),
            "l": np.array([2, 5, 1]),
        },
        {},
        ["y", "s"],
        {"x": 1, "g": 1, "z": 1, "l": 7, "y": 1, "r": 1, "s": 1},
        20,
    ),
    "a grid over no pixels": _node("GridSample", {"x": _drawn([1, 6, 7, 0]), "g": _drawn([1, 2, 5, 2])}),
    "convolution of no images and no channels": _node(
        "Conv", {"x": _drawn([0, 0, 1, 1]), "w": _drawn([2, 0, 1, 1]), "b": _drawn([2])}, group=2
    ),
    "convolution to no channels": _node("Conv", {"x": _drawn([2, 3, 4, 4]), "w": _drawn([0, 3, 2, 2])}),
    "resize of nothing": _node(
        "Resize",
        {"x": _drawn([1, 2, 0, 4]), "r": _drawn([0]), "s": np.float32([1, 1, 2, 2])},
        ["r", "s"],
        mode="linear",
    ),
    "mean of padding": _node(
        "AveragePool", {"x": _drawn([1, 2, 0, 4])}, kernel_shape=[2, 1], pads=[1, 0, 1, 0], count_include_pad=1
    ),
    "resize of 64-bit integers": _node(
        "Resize",
        {"x": _drawn([1, 2, 4, 5], I64), "r": _drawn([0]), "s": np.float32([1, 1, 2, 0.5])},
        ["r", "s"],
        [7],
        mode="nearest",
        nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    ),
    "a choice of numbers of 4 bits": _node(
        "Where",
        {
            "c": _drawn([3, 5], low=0, high=2) > 0,
            "x": np.arange(15).reshape(3, 5).astype("uint4"),
            "y": np.arange(5).astype("uint4"),
        },
        kinds=[21],
        opset=23,
    ),
    "extremum of no 64-bit integers": _node("ReduceMax", {"x": _drawn([2, 0, 3], I64), "a": np.array([1])}, ["a"], [7]),
    "a diagonal far outside": _node("EyeLike", {"x": _drawn([3, 4])}, k=2**63 - 1),
    "a transposed matrix that is transposed back": Graph(
        [
            helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]),
            helper.make_node("ReverseSequence", ["t", "l"], ["r"], batch_axis=0, time_axis=1),
            helper.make_node("Gemm", ["t", "b", "c"], ["y"], transA=1),
        ],
        {"x": _drawn([8, 6]), "l": np.array([3, 2, 2, 6, 4, 6]), "b": _drawn([6, 17])},
        {"c": _drawn([8, 1])},
        ["r", "y"],
        {"x": 1, "t": 1, "l": 7, "r": 1, "b": 1, "c": 1, "y": 1},
        21,
    ),
    "powers beyond f16": _node("LpPool", {"x": _drawn([2, 3, 5, 4], low=-3000, high=3000)}, kernel_shape=[2, 2], p=3),
    "a norm of squares beyond f16": _node(
        "ReduceL2", {"x": _drawn([2, 3, 40], low=-2000, high=2000), "a": np.array([2])}, ["a"]
    ),
    "rows whose squares are beyond f16": _node("LpNormalization", {"x": _drawn([3, 40], low=-9000, high=9000)}, axis=1),
    "deviations whose squares are beyond f16": _node(
        "MeanVarianceNormalization", {"x": _drawn([2, 3, 8, 5], low=-9000, high=9000)}, axes=[2, 3]
    ),
    "neighbours whose squares are beyond f16": _node(
        "LRN", {"x": _drawn([2, 8, 3, 5], low=-9000, high=9000)}, alpha=0.05, size=3
    ),
    "a sum beyond f16": _node("ReduceLogSum", {"x": _drawn([3, 40], low=900, high=70000), "a": np.array([1])}, ["a"]),
    "zero times a product beyond f16": _node(
        "CumProd", {"x": np.float32([0, *[3] * 16]), "a": np.array(0)}, ["a"], opset=26, exclusive=1
    ),
    "norms of integers": _node("ReduceL2", {"x": _drawn([8, 16], I32, -30, 30), "a": np.array([1])}, ["a"], [6]),
    "norms of integers beside those of f64": Graph(
        [helper.make_node("ReduceL2", ["i"], ["j"]), helper.make_node("ReduceL2", ["x", "a"], ["y"])],
        {"x": _drawn([6, 4], "float64")},
        {"i": np.array([3]), "a": np.array([-1])},
        ["j", "y"],
        {"i": 7, "j": 7, "x": 11, "a": 7, "y": 11},
        21,
    ),
    **{
        f"{op} of {dtype} far below zero behind a kernel's end": Graph(
            [helper.make_node(op, ["x"], ["e"]), helper.make_node("Expand", ["e", "s"], ["y"])],
            {"x": np.array([[-34, -300, 2.5, -0.25]], dtype)},
            {"s": np.array([3, 4])},
            ["y"],
            {"x": kind, "e": kind, "s": 7, "y": kind},
            22,
        )
        for op in ("Elu", "Selu", "Celu")
        for dtype, kind in (("float32", 1), ("float16", 10))
    },
    "a grid of another type": _node(
        "GridSample", {"x": _drawn([2, 3, 5, 4], "float16"), "g": _drawn([2, 2, 3, 2], low=-4, high=4)}, kinds=[10]
    ),
}


COUNT, SLICES = 300, 10  # each graph on one target: half of them F16, half a5, half 24 blocks


@pytest.mark.parametrize("first", range(0, COUNT, COUNT // SLICES))
def test_graphs(first):
    """None is wrong, crashes or is refused. A new operator changes every seed's graph."""
    made = command.run(first, COUNT // SLICES, False, 1, 120)
    bad = {seed: outcome for seed, outcome in made.items() if outcome.status not in ("right", "unsure")}
    assert not bad, "\n".join(f"{seed}: {outcome}" for seed, outcome in bad.items())


@pytest.mark.parametrize("name", FOUND)
def test_found(name):
    outcome = check.check(FOUND[name], [TARGET, check.Target("a5", 24, "F16")])
    assert outcome.status == "right", outcome

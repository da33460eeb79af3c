"""LSTM, GRU and RNN against onnxruntime: directions, initial states, layouts, activations, both forms of the GRU's
reset."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from graphs import F, info, save, weight
from onnx import TensorProto, helper
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
TOLERANCE = {"F32": 2e-6, "F16": 4e-3, "BF16": 4e-2}


def layer(path, op, shape, hidden, directions=1, states=False, bias=True, lengths=None, **attributes):
    """One layer whose input comes from a Relu and whose outputs have several users; returns a feed."""
    rng = np.random.default_rng(11)
    steps, batch, features = shape
    outer = (lambda a, b: [b, a]) if attributes.get("layout") else (lambda a, b: [a, b])
    draw = lambda *sizes: (rng.standard_normal(sizes) / np.sqrt(sizes[-1])).astype(np.float32)  # noqa: E731
    gates = GATES[op] * hidden
    weights = [weight("w", draw(directions, gates, features)), weight("r", draw(directions, gates, hidden))]
    feed = {"x": rng.standard_normal((*outer(steps, batch), features)).astype(np.float32)}
    names = ["xr", "w", "r", "", "", "", ""]
    if bias:
        weights.append(weight("b", draw(directions, 2 * gates)))
        names[3] = "b"
    if lengths is not None:
        weights.append(weight("lengths", np.array(lengths, np.int32)))
        names[4] = "lengths"
    outputs = ["y", "h", "c"] if op == "LSTM" else ["y", "h"]
    names = names if op == "LSTM" else names[:6]
    for place, state in ((5, "h0"), (6, "c0"))[: len(outputs) - 1]:
        if states:
            feed[state] = draw(*outer(directions, batch), hidden)
            names[place] = state
    nodes = [
        helper.make_node("Relu", ["x"], ["xr"]),
        helper.make_node(op, names, outputs, name="cell", hidden_size=hidden, **attributes),
    ]
    nodes += [helper.make_node("Neg", [name], ["minus_" + name]) for name in outputs[1:]]
    save(
        path,
        nodes,
        [info(name, F, list(value.shape)) for name, value in feed.items()],
        [info("y", F, [None] * 4)] + [info("minus_" + name, F, [None] * 3) for name in outputs[1:]],
        weights,
    )
    return feed


def convert(tmp_path, mode, cores):
    compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), mode, "a3", cores, False)
    return InferenceSession(str(tmp_path / "m.pmodel"), threads=1)


LAYERS = [
    ("LSTM", (5, 3, 7), 10, {}),
    ("LSTM", (4, 1, 33), 24, {"directions": 2, "direction": "bidirectional", "states": True, "lengths": [4]}),
    (
        "LSTM",
        (3, 2, 5),
        9,
        {"direction": "reverse", "bias": False, "layout": 0, "activations": ["Sigmoid", "Relu", "Tanh"]},
    ),
    ("GRU", (5, 2, 19), 21, {"directions": 2, "direction": "bidirectional", "linear_before_reset": 1, "states": True}),
    ("GRU", (6, 3, 11), 15, {"direction": "reverse", "states": True}),
    ("GRU", (1, 1, 4), 6, {"bias": False, "linear_before_reset": 1}),
    ("RNN", (5, 4, 10), 13, {"directions": 2, "direction": "bidirectional", "activations": ["Relu", "Sigmoid"]}),
    ("LSTM", (5, 3, 7), 10, {"states": True, "lengths": [2, 5, 3]}),
    ("LSTM", (6, 2, 7), 8, {"directions": 2, "direction": "bidirectional", "states": True, "lengths": [4, 1]}),
    ("GRU", (5, 3, 7), 10, {"direction": "reverse", "states": True, "lengths": [1, 2, 4], "linear_before_reset": 1}),
    ("RNN", (4, 2, 3), 5, {"lengths": [2, 2], "clip": 0.5}),
    ("LSTM", (5, 2, 7), 9, {"clip": 0.25, "states": True}),
    ("GRU", (5, 2, 7), 9, {"clip": 0.25, "directions": 2, "direction": "bidirectional"}),
    ("LSTM", (5, 2, 7), 9, {"input_forget": 1, "states": True}),
    (
        "LSTM",
        (3, 2, 4),
        6,
        {
            "activations": ["HardSigmoid", "ScaledTanh", "Softsign"],
            "activation_alpha": [0.3, 0.75],
            "activation_beta": [0.4, 0.5],
        },
    ),
    ("GRU", (3, 2, 4), 6, {"activations": ["HardSigmoid", "Elu"], "activation_alpha": [0.25, 0.5]}),
    (
        "RNN",
        (3, 2, 4),
        6,
        {
            "directions": 2,
            "direction": "bidirectional",
            "activations": ["Affine", "LeakyRelu"],
            "activation_alpha": [0.5, 0.125],
            "activation_beta": [0.25],
        },
    ),
    (
        "RNN",
        (3, 2, 4),
        6,
        {
            "directions": 2,
            "direction": "bidirectional",
            "activations": ["ThresholdedRelu", "Softplus"],
            "activation_alpha": [0.25],
        },
    ),
]


@pytest.mark.parametrize("mode, cores", [("F32", 1), ("F32", 24), ("F16", 2), ("BF16", 1)])
@pytest.mark.parametrize("number", range(len(LAYERS)))
def test_layer(tmp_path, number, mode, cores):
    op, shape, hidden, options = LAYERS[number]
    feed = layer(tmp_path / "m.onnx", op, shape, hidden, **options)
    expected = ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, feed)
    for ours, theirs in zip(convert(tmp_path, mode, cores).run(None, feed), expected, strict=True):
        assert ours.shape == theirs.shape
        assert np.max(np.abs(ours - theirs)) <= TOLERANCE[mode]


@pytest.mark.parametrize(
    "op, options",
    [("LSTM", {"states": True}), ("GRU", {"states": True, "directions": 2, "direction": "bidirectional"})],
)
def test_batch_first(tmp_path, op, options):
    """onnxruntime does not support layout 1: compared with the transposed layer."""
    (tmp_path / "plain").mkdir()
    feed = layer(tmp_path / "m.onnx", op, (4, 3, 6), 8, layout=1, **options)
    layer(tmp_path / "plain" / "m.onnx", op, (4, 3, 6), 8, **options)
    plain = {name: np.ascontiguousarray(value.transpose(1, 0, 2)) for name, value in feed.items()}
    y, *states = ort.InferenceSession(str(tmp_path / "plain" / "m.onnx")).run(None, plain)
    ours = convert(tmp_path, "F32", 1).run(None, feed)
    for value, reference in zip(
        ours, [y.transpose(2, 0, 1, 3)] + [state.transpose(1, 0, 2) for state in states], strict=True
    ):
        np.testing.assert_allclose(value, reference, atol=2e-6)


@pytest.mark.parametrize("op, direction", [("LSTM", "forward"), ("GRU", "bidirectional")])
def test_lengths_of_a_run(tmp_path, op, direction):
    """Lengths that are an input of the model."""
    directions = 1 + (direction == "bidirectional")
    feed = layer(tmp_path / "m.onnx", op, (5, 3, 7), 10, directions, states=True, lengths=[5] * 3, direction=direction)
    model = onnx.load(tmp_path / "m.onnx")
    kept = [tensor for tensor in model.graph.initializer if tensor.name != "lengths"]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    model.graph.input.append(info("lengths", TensorProto.INT32, [3]))
    onnx.save(model, tmp_path / "m.onnx")
    theirs, ours = ort.InferenceSession(str(tmp_path / "m.onnx")), convert(tmp_path, "F32", 1)
    for lengths in ([2, 5, 1], [5, 5, 5]):
        feed["lengths"] = np.array(lengths, np.int32)
        for value, expected in zip(ours.run(None, feed), theirs.run(None, feed), strict=True):
            np.testing.assert_allclose(value, expected, atol=2e-6)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"lengths": [2, 5]}, "sequence_lens are from 0 to the number of steps, 4"),
        ({"lengths": [2]}, "sequence_lens has one number for each of 2 sequences"),
        ({"clip": -3.0}, "'clip' is the bound of a magnitude"),
        ({"activations": ["Sigmoid", "Tanh", "Gelu"]}, "activation 'Gelu' is not one of ONNX's: Sigmoid, Tanh, Relu, "),
    ],
)
def test_what_is_refused(tmp_path, options, message):
    layer(tmp_path / "m.onnx", "LSTM", (4, 2, 3), 5, **options)
    with pytest.raises(UserError, match="'cell' .LSTM.*" + message):
        compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")


def test_too_many_steps(tmp_path):
    """What has no kernel is unrolled: a layer without features."""
    layer(tmp_path / "m.onnx", "RNN", (1025, 1, 0), 2)
    with pytest.raises(UserError, match="has 1025 steps, at most 1024 are supported of f64, without features"):
        compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")


# Weights in L0B, in L1 and outside; a product of several depths; rows over units of two sizes.
KERNELS = [
    ("LSTM", (1500, 1, 5), 6, "a3", {}),
    ("LSTM", (4, 37, 9), 131, "a5", {"directions": 2, "direction": "bidirectional", "lengths": [4] * 20 + [2] * 17}),
    ("GRU", (3, 2, 9), 300, "a3", {"states": True}),
    ("GRU", (5, 2, 7), 37, "a5", {"linear_before_reset": 1, "states": True}),
    ("RNN", (3, 1, 9), 1100, "a5", {"direction": "reverse"}),
    ("RNN", (5, 2, 3), 1, "a5", {}),
    ("RNN", (2, 65, 3), 2050, "a3", {}),
]


def test_too_large(tmp_path):
    layer(tmp_path / "m.onnx", "RNN", (4, 1, 2), 2)
    model = onnx.load(tmp_path / "m.onnx")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2**28
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(UserError, match="has more than 268435456 elements of gates in its 268435456 steps"):
        compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")


@pytest.mark.parametrize("number", range(len(KERNELS)))
def test_kernel(tmp_path, number):
    """Sizes at which kernels differ: no races, and the same bits on 1 and 24 blocks, whichever engine goes first."""
    op, shape, hidden, processor, options = KERNELS[number]
    feed = layer(tmp_path / "m.onnx", op, shape, hidden, **options)
    expected = ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, feed)
    compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")
    results = []
    for cores, mode in ((1, "checked"), (24, "shuffled:5")):
        compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), "F32", processor, cores, False)
        results.append(InferenceSession(str(tmp_path / "m.pmodel"), threads=1, mode=mode).run(None, feed))
    for ours, others, theirs in zip(*results, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-6)
        assert np.array_equal(ours, others)


@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
def test_top_module(tmp_path, op):
    """The module before deployment, run on the host, is the same layer."""
    feed = layer(tmp_path / "m.onnx", op, (4, 2, 5), 6, 2, states=True, lengths=[4, 2], direction="bidirectional")
    expected = ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, feed)
    compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")
    ours = compiler.interpret(str(tmp_path / "m.mlir"), feed)
    for value, theirs in zip(ours.values(), expected, strict=True):
        np.testing.assert_allclose(value, theirs, atol=2e-6)


@pytest.mark.parametrize("opset, axis", [(17, -1), (17, 1), (11, 1), (11, 2)])
def test_log_softmax(tmp_path, opset, axis):
    x = (20 * np.random.default_rng(2).standard_normal((2, 5, 37))).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("LogSoftmax", ["x"], ["y"], axis=axis)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 5, 37])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 5, 37])],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), str(tmp_path / "m.onnx")
    )
    expected = ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, {"x": x})[0]
    np.testing.assert_allclose(convert(tmp_path, "F32", 2).run(None, {"x": x})[0], expected, rtol=1e-5, atol=2e-5)

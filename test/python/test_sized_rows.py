"""Batch and length known at run time, each by itself: sums over the length, rows of it, tables along it, and a whole
sentence encoder, in one kernel each, with onnxruntime's numbers."""

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto
from pto_mlir.runtime import InferenceSession
from test_sizes import convert
from test_transformer import WIDTH, WORDS, Graph

RANGES = {"batch": (1, 4, 1), "tokens": (1, 70, 1)}
SIZES = [(4, 70), (1, 1), (2, 17), (3, 64), (4, 33), (1, 70), (2, 1)]


def numbers(g, *values):
    return g.constant(list(values), np.int64)


def length(g, tensor="x"):
    return g.op("Slice", g.op("Shape", tensor), numbers(g, 1), numbers(g, 2))


def table(g, dtype=np.float32):
    """The first rows of a table, as many as there are tokens, added to each batch."""
    values = g.constant(np.arange(70 * 40).reshape(1, 70, 40), dtype)
    rows = g.op("Slice", values, numbers(g, 0), length(g), numbers(g, 1))
    g.op("Add", g.op("Cast", "x", to=TensorProto.INT32 if dtype == np.int32 else TensorProto.FLOAT), rows, name="sum")
    g.op("Cast", "sum", to=TensorProto.FLOAT, name="y")


def positions(g):
    """A table read at 0, 1, .. as many as there are tokens."""
    count = g.op("Squeeze", length(g), numbers(g, 0))
    places = g.op("Range", g.constant(0, np.int64), count, g.constant(1, np.int64))
    g.op("Add", "x", g.op("Gather", g.weight(70, 40), places), name="y")


def reduced(kind, **attributes):
    return lambda g: g.op(kind, "x", axes=[1], name="y", **attributes)


def mask(g):
    """Of rows of one element: how many tokens have a number above 2, per batch."""
    seen = g.op("Greater", g.op("ReduceMax", "x", axes=[2], keepdims=0), g.constant(2))
    g.op("ReduceSum", g.op("Cast", seen, to=TensorProto.FLOAT), numbers(g, 1), name="y")


CASES = {
    "table": table,
    "table of integers": lambda g: table(g, np.int32),
    "positions": positions,
    "sum": lambda g: g.op("ReduceSum", "x", numbers(g, 1), keepdims=0, name="y"),
    "mean": reduced("ReduceMean"),
    "max": reduced("ReduceMax", keepdims=0),
    "min": reduced("ReduceMin"),
    "sum of one column": mask,
    "first row": lambda g: g.op("Gather", "x", g.constant(0, np.int64), axis=1, name="y"),
    "softmax over columns": lambda g: g.op("Softmax", g.op("Mul", "x", g.constant(2)), axis=-1, name="y"),
}


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize(("quantize", "tolerance"), [("F32", 1e-5), ("F16", 1e-2), ("BF16", 6e-2)])
@pytest.mark.parametrize("name", CASES)
def test_one_kernel_for_all_sizes(tmp_path, name, quantize, tolerance, cores):
    if name == "table of integers" and quantize != "F32":
        tolerance = 16  # numbers up to 2800 leave the net in the storage type
    g = Graph(3)
    CASES[name](g)
    g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, ["batch", "tokens", 40])], ["y"])
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", quantize, cores, ranges=RANGES)
    assert sorted(summary["bounded"]) == ["batch", "tokens"] and not summary["remarks"]
    session = InferenceSession(str(tmp_path / "m.pmodel"), mode="checked" if cores == 3 else "functional")
    reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
    rng = np.random.default_rng(2)
    for batch, tokens in SIZES:
        feed = {"x": rng.standard_normal((batch, tokens, 40)).astype(np.float32)}
        (ours,), (expected,) = session.run(None, feed), reference.run(None, feed)
        scale = 300 if name.startswith("table") and quantize != "F32" else 1
        np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance * scale, err_msg=f"{batch} {tokens}")


def sentences(path, most=70):
    """A sentence embedding of any number of sentences and tokens: hidden states, their masked mean, the first one."""
    g = Graph()
    inputs = [(name, TensorProto.INT64, ["batch", "tokens"]) for name in ("ids", "mask")]
    places = g.op("Slice", g.weight(1, most, WIDTH), numbers(g, 0), length(g, "ids"), numbers(g, 1))
    x = g.op("Add", g.op("Gather", g.weight(WORDS, WIDTH, scale=1), "ids"), places)
    seen = g.op("Cast", g.op("Unsqueeze", "mask", numbers(g, 1, 2)), to=TensorProto.BOOL)
    for spelled in (True, False):
        x = g.norm(g.op("Add", x, g.attention(x, seen)), spelled)
        x = g.norm(g.op("Add", x, g.linear(g.gelu(g.linear(x, WIDTH, 4 * WIDTH)), 4 * WIDTH, WIDTH)), spelled)
    g.op("Identity", x, name="hidden")
    wide = g.op("Expand", g.op("Unsqueeze", "mask", numbers(g, -1)), g.op("Shape", x))
    wide = g.op("Cast", wide, to=TensorProto.FLOAT)
    total, count = (g.op("ReduceSum", t, numbers(g, 1), keepdims=0) for t in (g.op("Mul", x, wide), wide))
    g.op("Div", total, g.op("Clip", count, g.constant(1e-9)), name="sentence")
    g.op("Tanh", g.linear(g.op("Gather", x, g.constant(0, np.int64), axis=1), WIDTH, WIDTH), name="pooled")
    g.save(path, inputs, ["hidden", "sentence", "pooled"])


def sentences_feed(batch, tokens):
    rng = np.random.default_rng(7 * batch + tokens)
    there = (tokens - 3 * np.arange(batch)).clip(1)
    return {
        "ids": rng.integers(0, WORDS, (batch, tokens)),
        "mask": (np.arange(tokens) < there[:, None]).astype(np.int64),
    }


@pytest.mark.parametrize("cores", [2, 24])
@pytest.mark.parametrize(("quantize", "tolerance"), [("F32", 1e-5), ("F16", 2e-2)])
def test_encoder_of_any_batch_and_length(tmp_path, quantize, tolerance, cores):
    """One net; its outputs have the bits that a file of fixed sizes gives them."""
    sentences(tmp_path / "m.onnx")
    summary = convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", quantize, cores, ranges=RANGES)
    assert sorted(summary["bounded"]) == ["batch", "tokens"] and not summary["remarks"]
    session = InferenceSession(str(tmp_path / "all.pmodel"))
    reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
    for batch, tokens in SIZES:
        feed = sentences_feed(batch, tokens)
        ours = session.run(None, feed)
        for value, expected in zip(ours, reference.run(None, feed), strict=True):
            np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance, err_msg=f"{batch} {tokens}")
        if (batch, tokens) in SIZES[1:4] and cores == 24:
            fixed = {"batch": [batch], "tokens": [tokens]}
            convert(tmp_path / "m.onnx", tmp_path / "one.pmodel", quantize, cores, sizes=fixed)
            alone = InferenceSession(str(tmp_path / "one.pmodel")).run(None, feed)
            assert [a.tobytes() for a in ours] == [b.tobytes() for b in alone], (batch, tokens)


@pytest.mark.parametrize("quantize", ["F32", "F16", "BF16"])
def test_a_sum_of_any_size_is_not_rounded(tmp_path, quantize):
    """A weighted sum over the tokens, made a unit vector: the bits of a file of each size, which fuses other ops."""
    g = Graph(3)
    total = g.op("ReduceSum", "x", numbers(g, 1), keepdims=0)
    mean = g.op("Div", total, g.op("Exp", g.op("ReduceMax", "x", axes=[1], keepdims=0)))
    squares = g.op("ReduceSum", g.op("Mul", mean, mean), numbers(g, 1))
    g.op("Div", mean, g.op("Sqrt", squares), name="y")
    g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, ["batch", "tokens", 384])], ["y"])
    convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", quantize, 24, ranges=RANGES)
    session, rng = InferenceSession(str(tmp_path / "all.pmodel")), np.random.default_rng(3)
    for batch, tokens in SIZES[1:4]:
        convert(
            tmp_path / "m.onnx", tmp_path / "one.pmodel", quantize, 24, sizes={"batch": [batch], "tokens": [tokens]}
        )
        feed = {"x": rng.standard_normal((batch, tokens, 384)).astype(np.float32)}
        (ours,), (alone,) = session.run(None, feed), InferenceSession(str(tmp_path / "one.pmodel")).run(None, feed)
        x = feed["x"].astype(np.float64)
        mean = x.sum(1) / np.exp(x.max(1))
        tolerance = {"F32": 1e-6, "F16": 2e-3, "BF16": 1e-2}[quantize]
        np.testing.assert_allclose(ours, mean / np.linalg.norm(mean, axis=1, keepdims=True), atol=tolerance)
        assert ours.tobytes() == alone.tobytes(), (batch, tokens)


def test_rows_that_move_with_the_length(tmp_path):
    """The last row: versions, with the reason."""
    g = Graph(3)
    g.op("Gather", "x", g.constant(-1, np.int64), axis=1, name="y")
    g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, [1, "tokens", 40])], ["y"])
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", "F32", 1, ranges={"tokens": (2, 9, 1)})
    (remark,) = summary["remarks"]
    assert not summary["bounded"] and "depends on the size" in remark
    session = InferenceSession(str(tmp_path / "m.pmodel"))
    x = np.random.default_rng(1).standard_normal((1, 5, 40)).astype(np.float32)
    assert np.array_equal(session.run(None, {"x": x})[0], x[:, 4])

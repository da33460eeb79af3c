"""A transformer encoder whose batch is known at run time: one net, bits of fixed batches, numbers of onnxruntime."""

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools.native import program_output
from test_sizes import convert
from test_transformer import Graph, encoder, encoder_feed

GREATEST = 8


@pytest.mark.parametrize("cores", [1, 24])
@pytest.mark.parametrize(("quantize", "tolerance"), [("F32", 2e-4), ("F16", 2e-2)])
def test_bits_are_those_of_fixed_batches(tmp_path, quantize, tolerance, cores):
    """A sentence has the bits that it has among the greatest number of them, compiled as a constant."""
    encoder(tmp_path / "m.onnx", batch="batch")
    convert(tmp_path / "m.onnx", tmp_path / "most.pmodel", quantize, cores, sizes={"batch": [GREATEST]})
    summary = convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", quantize, cores, ranges={"batch": (1, GREATEST, 1)})
    assert list(summary["bounded"]) == ["batch"] and not summary["remarks"]
    session, most = (InferenceSession(str(tmp_path / f"{name}.pmodel")) for name in ("all", "most"))
    reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
    whole = encoder_feed(GREATEST)
    fixed = most.run(None, whole)
    for batch in (GREATEST, 1, 5, 2, 6, 3, 4, 7):
        feed = {name: value[:batch] for name, value in whole.items()}
        for ours, number, same in zip(session.run(None, feed), reference.run(None, feed), fixed, strict=True):
            np.testing.assert_allclose(ours, number, rtol=tolerance, atol=tolerance)
            assert ours.tobytes() == same[:batch].tobytes(), batch


@pytest.mark.parametrize("mode", ["checked", "timing"])
def test_nothing_is_read_that_is_not_there(tmp_path, mode):
    encoder(tmp_path / "m.onnx", batch="batch")
    convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", "F16", 2, ranges={"batch": (1, 4, 1)})
    session = InferenceSession(str(tmp_path / "m.pmodel"), mode=mode)
    reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
    for batch in (1, 4, 3):
        feed = encoder_feed(batch)
        for value, number in zip(session.run(None, feed), reference.run(None, feed), strict=True):
            np.testing.assert_allclose(value, number, rtol=2e-2, atol=2e-2)


def attention(path, causal, batch="batch", rows=150, keys=None, sizes=(5, 150, 150)):
    """Heads of the inputs' rows, a mask of the keys of each batch, rows that see no later keys. `sizes` are those of
    the numbers that come back: batches, rows and keys."""
    heads, depth = 2, 16
    keys = rows if keys is None else keys
    g = Graph(7)
    split = g.constant([0, 0, heads, depth], np.int64)
    q, k, v = (g.op("Reshape", name, split) for name in ("q", "k", "v"))
    q, k, v = (g.op("Transpose", t, perm=p) for t, p in ((q, [0, 2, 1, 3]), (k, [0, 2, 3, 1]), (v, [0, 2, 1, 3])))
    scores = g.op("Mul", g.op("MatMul", q, k), g.constant(0.25))
    if causal:
        hidden = np.triu(np.full((rows, rows), -1e4, np.float32), 1)
        scores = g.op("Add", scores, g.constant(hidden[None, None]))
    else:
        scores = g.op("Add", scores, "bias")
    mixed = g.op("Transpose", g.op("MatMul", g.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    g.op("Reshape", mixed, g.constant([0, 0, heads * depth], np.int64), name="y")
    extents = {"q": rows, "k": keys, "v": keys}
    wide = [(name, TensorProto.FLOAT, [batch, extent, heads * depth]) for name, extent in extents.items()]
    bias = [("bias", TensorProto.FLOAT, [batch, 1, 1, keys])] if not causal else []
    g.save(path, wide + bias, ["y"])
    rng = np.random.default_rng(4)
    counts = {"q": sizes[1], "k": sizes[2], "v": sizes[2]}
    feed = {n: rng.standard_normal((sizes[0], c, heads * depth)).astype(np.float32) for n, c in counts.items()}
    if not causal:
        feed["bias"] = np.where(rng.random((sizes[0], 1, 1, sizes[2])) < 0.3, -1e4, 0).astype(np.float32)
    return feed


@pytest.mark.parametrize("mode", ["functional", "checked"])
@pytest.mark.parametrize("cores", [1, 3, 24])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_stays_one_kernel(tmp_path, causal, cores, mode):
    """Its heads are those of the batch at hand; blocks share them in rounds whose number is known at run time."""
    whole = attention(tmp_path / "m.onnx", causal)
    convert(tmp_path / "m.onnx", tmp_path / "most.pmodel", "F16", cores, sizes={"batch": [5]})
    summary = convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", "F16", cores, ranges={"batch": (1, 5, 1)})
    assert list(summary["bounded"]) == ["batch"]
    session, most = (InferenceSession(str(tmp_path / f"{name}.pmodel"), mode=mode) for name in ("all", "most"))
    assert "1 both)" in program_output("pmodel_tool", ["--info", str(tmp_path / "all.pmodel")])
    reference, (fixed,) = ort.InferenceSession(str(tmp_path / "m.onnx")), most.run(None, whole)
    for batch in (5, 1, 4, 2, 3):
        feed = {name: value[:batch] for name, value in whole.items()}
        (ours,) = session.run(None, feed)
        np.testing.assert_allclose(ours, reference.run(None, feed)[0], rtol=1e-2, atol=1e-2)
        assert ours.tobytes() == fixed[:batch].tobytes(), batch


@pytest.mark.parametrize("mode", ["functional", "checked"])
@pytest.mark.parametrize(("quantize", "tolerance"), [("F32", 1e-5), ("F16", 1e-2)])
@pytest.mark.parametrize(
    "shape",
    [("batch", "rows", "rows"), (1, "rows", "rows"), (1, "rows", "keys"), (1, 70, "keys"), ("batch", "rows", "keys")],
)
def test_attention_of_several_sizes(tmp_path, shape, quantize, tolerance, mode):
    """Its kernel takes each size as a scalar; a result has the bits that a model of fixed sizes gives it."""
    ranges = {"batch": (1, 4, 1), "rows": (1, 300, 1), "keys": (1, 280, 1)}
    ranges = {name: steps for name, steps in ranges.items() if name in shape}
    attention(tmp_path / "m.onnx", False, *shape)
    summary = convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", quantize, 3, ranges=ranges)
    assert sorted(summary["bounded"]) == sorted(ranges) and not summary["remarks"]
    session = InferenceSession(str(tmp_path / "all.pmodel"), mode=mode)
    reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
    for values in ((4, 300, 280), (1, 1, 1), (2, 17, 256), (3, 256, 257), (1, 129, 64), (4, 2, 31)):
        here = dict(zip(("batch", "rows", "keys"), values, strict=True))
        sizes = [here.get(extent, extent) for extent in shape]
        feed = attention(tmp_path / "same.onnx", False, sizes=sizes)
        (ours,), (expected,) = session.run(None, feed), reference.run(None, feed)
        np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance, err_msg=str(here))
        if mode == "functional":
            fixed = {name: [here[name]] for name in ranges}
            convert(tmp_path / "m.onnx", tmp_path / "fixed.pmodel", quantize, 3, sizes=fixed)
            (same,) = InferenceSession(str(tmp_path / "fixed.pmodel")).run(None, feed)
            assert ours.tobytes() == same.tobytes(), here


def test_rows_of_the_query_alone(tmp_path):
    """Rows of Q over keys that are fixed, in one kernel."""
    g = Graph(8)
    scores = g.op("MatMul", "q", g.op("Transpose", "k", perm=[0, 2, 1]))
    g.op("MatMul", g.op("Softmax", scores, axis=-1), "v", name="y")
    keys = [(name, TensorProto.FLOAT, [1, 40, 16]) for name in ("k", "v")]
    g.save(tmp_path / "m.onnx", [("q", TensorProto.FLOAT, [1, "rows", 16]), *keys], ["y"])
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", "F16", 2, ranges={"rows": (1, 50, 1)})
    assert list(summary["bounded"]) == ["rows"] and not summary["remarks"]
    session, reference = InferenceSession(str(tmp_path / "m.pmodel")), ort.InferenceSession(str(tmp_path / "m.onnx"))
    rng = np.random.default_rng(9)
    for rows in (50, 1, 17):
        feed = {n: rng.standard_normal((1, r, 16)).astype(np.float32) for n, r in (("q", rows), ("k", 40), ("v", 40))}
        (ours,), (expected,) = session.run(None, feed), reference.run(None, feed)
        np.testing.assert_allclose(ours, expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("greatest", [2, 5, 8, 9])
def test_attention_of_few_rows(tmp_path, greatest):
    """Units of two rows: each vector core has one row, no place for a second half's."""
    attention(tmp_path / "m.onnx", False, 1, "rows", "rows")
    convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", "F16", 24, ranges={"rows": (1, greatest, 1)})
    session = InferenceSession(str(tmp_path / "m.pmodel"), mode="checked")
    reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
    for rows in range(1, greatest + 1):
        feed = attention(tmp_path / "same.onnx", False, sizes=(1, rows, rows))
        (ours,), (expected,) = session.run(None, feed), reference.run(None, feed)
        np.testing.assert_allclose(ours, expected, rtol=1e-2, atol=1e-2)

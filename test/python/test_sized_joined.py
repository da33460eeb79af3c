"""Joined kernels whose rows, or number of products, are known at run time: bits and time of the constant ones."""

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools.native import program_output
from test_sizes import convert
from test_transformer import Graph

TOKENS, DEPTH, WIDTH, GREATEST = 40, 256, 384, 20


def layer(path):
    """A product and a gelu, which follows it tile by tile; products of each batch and a softmax of their rows."""
    g = Graph(11)
    wide = g.gelu(g.op("Add", g.op("MatMul", "x", g.weight(DEPTH, WIDTH)), g.weight(WIDTH)))
    scores = g.op("MatMul", wide, g.op("Transpose", wide, perm=[0, 2, 1]))
    g.op("Softmax", g.op("Mul", scores, g.constant(0.05)), axis=-1, name="y")
    g.save(path, [("x", TensorProto.FLOAT, ["batch", TOKENS, DEPTH])], ["y"])
    return np.random.default_rng(3).standard_normal((GREATEST, TOKENS, DEPTH)).astype(np.float32)


@pytest.mark.parametrize("mode", ["functional", "checked"])
@pytest.mark.parametrize(("quantize", "tolerance"), [("F32", 1e-4), ("F16", 2e-2)])
@pytest.mark.parametrize("cores", [2, 24])
def test_bits_are_those_of_a_fixed_size(tmp_path, cores, quantize, tolerance, mode):
    """Also where the last tile has fewer rows than others, and where cores have none."""
    whole = layer(tmp_path / "m.onnx")
    convert(tmp_path / "m.onnx", tmp_path / "most.pmodel", quantize, cores, sizes={"batch": [GREATEST]})
    summary = convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", quantize, cores, ranges={"batch": (1, GREATEST, 1)})
    assert list(summary["bounded"]) == ["batch"]
    info = program_output("pmodel_tool", ["--info", str(tmp_path / "all.pmodel")])
    assert " both)" in info, info
    session, most = (InferenceSession(str(tmp_path / f"{name}.pmodel"), mode=mode) for name in ("all", "most"))
    reference, (fixed,) = ort.InferenceSession(str(tmp_path / "m.onnx")), most.run(None, {"x": whole})
    for batch in (GREATEST, 1, 16, 7, 3):
        (ours,) = session.run(None, {"x": whole[:batch]})
        expected = reference.run(None, {"x": whole[:batch]})[0]
        np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance)
        assert ours.tobytes() == fixed[:batch].tobytes(), batch


@pytest.mark.parametrize("quantize", ["F32", "F16"])
def test_time_is_that_of_the_constant_version(tmp_path, quantize):
    whole = layer(tmp_path / "m.onnx")
    convert(tmp_path / "m.onnx", tmp_path / "most.pmodel", quantize, 24, sizes={"batch": [GREATEST]})
    convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", quantize, 24, ranges={"batch": (1, GREATEST, 1)})
    seconds = []
    for name in ("all", "most"):
        session = InferenceSession(str(tmp_path / f"{name}.pmodel"), mode="timing")
        session.run(None, {"x": whole})
        seconds.append(session.profile()["seconds"])
    assert seconds[0] <= 1.03 * seconds[1], seconds

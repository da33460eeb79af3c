"""Shared by the tests of control flow: how a model is compiled and compared with onnxruntime."""

import numpy as np
import onnxruntime as ort
from pto_mlir import compiler
from pto_mlir.runtime import InferenceSession

RANDOM = np.random.default_rng(5)


def convert(source, target, shapes=None, quantize="F32", debug=False):
    compiler.transform(str(source), "m", shapes, [], target + ".mlir", "")
    return compiler.deploy(target + ".mlir", target, quantize, "a3", 1, debug)


def compare(tmp_path, feeds, tolerance=1e-5, shapes=None):
    """Compiles tmp_path/m.onnx and runs both on every feed."""
    source, target = str(tmp_path / "m.onnx"), str(tmp_path / "m.pmodel")
    summary = convert(source, target, shapes)
    session, reference = InferenceSession(target, threads=1), ort.InferenceSession(source)
    for feed in feeds:
        for ours, theirs in zip(session.run(None, feed), reference.run(None, feed), strict=True):
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    return summary

"""A transformer encoder whose batch is known at run time: one net, bits of fixed batches, numbers of onnxruntime."""

import numpy as np
import onnxruntime as ort
import pytest
from pto_mlir.runtime import InferenceSession
from test_sizes import convert
from test_transformer import encoder, encoder_feed

GREATEST = 8


@pytest.mark.parametrize("cores", [1, 24])
@pytest.mark.parametrize(("quantize", "tolerance"), [("F32", 2e-4), ("F16", 2e-2)])
def test_bits_are_those_of_fixed_batches(tmp_path, quantize, tolerance, cores):
    """A sentence has the bits that it has among the greatest number of them, compiled as a constant."""
    encoder(tmp_path / "m.onnx", batch="batch")
    convert(tmp_path / "m.onnx", tmp_path / "most.pmodel", quantize, cores, sizes={"batch": [GREATEST]})
    summary = convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", quantize, cores, ranges={"batch": (1, GREATEST, 1)})
    assert summary["bounded"] == ["batch"] and not summary["remarks"]
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

"""Products whose rows are known at run time: the cores share few rows in smaller blocks, with the same bits."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto
from pto_mlir import compiler
from pto_mlir.runtime import InferenceSession
from test_sizes import convert
from test_transformer import Graph


def product(path, depth, width, most, seed):
    g = Graph(seed)
    g.op("Add", g.op("MatMul", "x", g.weight(depth, width)), g.weight(width), name="y")
    g.save(path, [("x", TensorProto.FLOAT, ["rows", depth])], ["y"])
    return np.random.default_rng(seed).standard_normal((most, depth)).astype(np.float32)


@pytest.mark.parametrize("mode", ["functional", "checked"])
@pytest.mark.parametrize(("quantize", "tolerance"), [("F32", 1e-4), ("F16", 2e-2)])
@pytest.mark.parametrize("cores", [1, 5, 24])
@pytest.mark.parametrize("seed", range(4))
def test_rows_of_a_fixed_size(tmp_path, seed, cores, quantize, tolerance, mode):
    """Rows of any number are the bits of those of the greatest number, and onnxruntime's numbers."""
    rng = np.random.default_rng(100 + seed)
    depth, width, most = (int(rng.integers(*between)) for between in ((8, 700), (3, 900), (300, 1500)))
    whole = product(tmp_path / "m.onnx", depth, width, most, seed)
    convert(tmp_path / "m.onnx", tmp_path / "most.pmodel", quantize, cores, sizes={"rows": [most]})
    convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", quantize, cores, ranges={"rows": (1, most, 1)})
    session, fixed = (InferenceSession(str(tmp_path / f"{name}.pmodel"), mode=mode) for name in ("all", "most"))
    expected, (bits,) = (
        ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, {"x": whole})[0],
        fixed.run(None, {"x": whole}),
    )
    for rows in (most, 1, 16, 17, 128, int(rng.integers(1, most)), int(rng.integers(1, most))):
        (ours,) = session.run(None, {"x": whole[:rows]})
        np.testing.assert_allclose(ours, expected[:rows], rtol=tolerance, atol=tolerance * np.sqrt(depth))
        assert ours.tobytes() == bits[:rows].tobytes(), rows


@pytest.mark.parametrize("quantize", ["F32", "F16"])
def test_weights_beside_the_model(tmp_path, quantize):
    """The imports for several sizes read one mapped file of weights."""
    x = product(tmp_path / "inner.onnx", 96, 128, 40, 3)
    model = onnx.load(tmp_path / "inner.onnx")
    w, bias = (onnx.numpy_helper.to_array(tensor).astype(np.float64) for tensor in model.graph.initializer)
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", quantize, 2, ranges={"rows": (1, 40, 1)})
    (ours,) = InferenceSession(str(tmp_path / "all.pmodel")).run(None, {"x": x[:7]})
    np.testing.assert_allclose(
        ours, x[:7].astype(np.float64) @ w + bias, rtol=1e-4, atol=1e-4 if quantize == "F32" else 5e-2
    )


@pytest.mark.parametrize(("depth", "width"), [(384, 1536), (384, 1152), (1536, 384)])
def test_time_of_few_rows(tmp_path, depth, width):
    """Within an eighth of the time of a model of that many rows: its blocks are chosen for them. Launches do not
    count: that model converts its input beside the product, which is no way for rows that are known at run time."""
    whole = product(tmp_path / "m.onnx", depth, width, 4096, 1)
    convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", "F16", 24, ranges={"rows": (1, 4096, 1)})
    for rows in (48, 128, 640, 1024):
        convert(tmp_path / "m.onnx", tmp_path / "few.pmodel", "F16", 24, sizes={"rows": [rows]})
        seconds = []
        for name in ("all", "few"):
            session = InferenceSession(str(tmp_path / f"{name}.pmodel"), mode="timing")
            session.run(None, {"x": whole[:rows]})
            profile = session.profile()
            seconds.append(profile["seconds"] - profile["launches"] * compiler.launch_seconds("a3")[0])
        assert seconds[0] <= 1.125 * seconds[1], (rows, seconds)

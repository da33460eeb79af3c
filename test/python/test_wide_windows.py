"""Pools and depthwise convolutions whose kernels are too wide for a command per column, beside onnxruntime."""

import time

import numpy as np
import onnxruntime as ort
import pytest
from graphs import F, info, save, weight
from onnx.helper import make_node as node
from pto_mlir import compiler
from pto_mlir.runtime import InferenceSession

CASES = [
    # op, input, kernel, strides, dilations, pads
    ("MaxPool", [2, 16, 1023], [1023], [3], [1], [6, 0]),
    ("AveragePool", [1, 3, 1025], [1023], [3], [1], [6, 5]),
    ("MaxPool", [1, 5, 301], [67], [1], [3], [20, 33]),
    ("AveragePool", [1, 20, 9, 130], [3, 45], [2, 7], [1, 1], [1, 4, 0, 9]),
    ("Conv", [1, 24, 700], [401], [1], [1], [0, 0]),
    ("Conv", [2, 7, 200], [41], [5], [4], [13, 2]),
    ("Conv", [1, 16, 5, 90], [3, 43], [1, 2], [1, 2], [1, 0, 1, 60]),
    ("Conv", [1, 8, 120], [47], [60], [1], [0, 11]),
]


@pytest.mark.parametrize("op,shape,kernel,strides,dilations,pads", CASES)
@pytest.mark.parametrize("mode,arch", [("F32", "a3"), ("F16", "a5")])
def test_wide_window(tmp_path, op, shape, kernel, strides, dilations, pads, mode, arch):
    rng = np.random.default_rng(5)
    attributes = {"kernel_shape": kernel, "strides": strides, "pads": pads}
    if op != "AveragePool":
        attributes["dilations"] = dilations
    filters = []
    if op == "Conv":
        attributes["group"] = shape[1]
        values = rng.standard_normal([shape[1], 1, *kernel]) / np.prod(kernel) ** 0.5
        filters = [weight("w", values.astype(np.float32))]
    outputs = [info("y", F, [None] * len(shape))]
    file = tmp_path / "m.onnx"
    save(
        file,
        [node(op, ["x", *(f.name for f in filters)], ["y"], **attributes)],
        [info("x", F, shape)],
        outputs,
        filters,
    )
    begin = time.perf_counter()
    compiler.transform(str(file), "m", None, [], str(tmp_path / "m.mlir"), "")
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), mode, arch, 24, False)
    # A command for each of 1,023 columns took 55 s.
    assert time.perf_counter() - begin < 8
    x = rng.standard_normal(shape).astype(np.float32)
    (ours,) = InferenceSession(str(tmp_path / "m.pmodel")).run(None, {"x": x})
    (expected,) = ort.InferenceSession(str(file)).run(None, {"x": x})
    np.testing.assert_allclose(ours, expected, rtol=0, atol=2e-5 if mode == "F32" else 8e-3)

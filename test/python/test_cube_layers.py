"""Layers of the sizes of real networks on the cube road: right numbers in every storage type, the same bits on any
number of cores."""

import numpy as np
import pytest
from conftest import save_model, weight
from onnx import helper
from pto_mlir.reference import run_onnx
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy, model_transform

# Minimum cosine of the outputs.
BOUNDS = {"F32": 0.999999, "F16": 0.99995, "BF16": 0.995}


def convolutions(path):
    """Rows that no number of cores divides, strides, groups, a window over the whole image, a wide matrix product."""
    rng = np.random.default_rng(7)
    nodes, weights = [], []

    def conv(name, source, features, channels, kernel, stride=1, groups=1, relu=True):
        scale = (channels // groups * kernel * kernel) ** -0.5
        weights.append(weight(rng, f"{name}_w", features, channels // groups, kernel, kernel, scale=scale))
        weights.append(weight(rng, f"{name}_b", features, scale=0.1))
        pad = kernel // 2
        nodes.append(
            helper.make_node(
                "Conv", [source, f"{name}_w", f"{name}_b"], [name], strides=[stride] * 2, pads=[pad] * 4, group=groups
            )
        )
        if relu:
            nodes.append(helper.make_node("Relu", [name], [f"{name}_r"]))
        return f"{name}_r" if relu else name

    x = conv("c0", "x", 24, 3, 7, 2)
    x = conv("c1", x, 40, 24, 3)
    x = conv("c2", x, 96, 40, 1, relu=False)
    x = conv("c3", x, 128, 96, 3, 2)
    x = conv("c4", x, 64, 128, 1, 2)
    x = conv("c5", x, 64, 64, 3, groups=4, relu=False)
    nodes.append(helper.make_node("Flatten", [x], ["flat"]))
    weights.append(weight(rng, "fc_w", 64 * 7 * 7, 250, scale=0.02))
    weights.append(weight(rng, "fc_b", 250, scale=0.1))
    nodes.append(helper.make_node("Gemm", ["flat", "fc_w", "fc_b"], ["y"]))
    return save_model(path, nodes, [("x", [1, 3, 56, 56])], [("y", [1, 250])], weights), {"x": [1, 3, 56, 56]}


def products(path):
    """A product of two computed operands: 12 heads of 197 rows, as in an attention."""
    nodes = [helper.make_node("MatMul", ["q", "k"], ["s"]), helper.make_node("MatMul", ["s", "v"], ["y"])]
    shapes = {"q": [12, 197, 64], "k": [12, 64, 197], "v": [12, 197, 64]}
    return save_model(path, nodes, list(shapes.items()), [("y", [12, 197, 64])], []), shapes


def long_rows(path):
    """197 rows of 768 and of 3072 floats: more than L1 holds, so some of their columns stay there and the others come
    by for each block of columns."""
    rng = np.random.default_rng(9)
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["h"]),
        helper.make_node("Add", ["h", "b0"], ["hb"]),
        helper.make_node("MatMul", ["wide", "w1"], ["y1"]),
        helper.make_node("Concat", ["hb", "y1"], ["y"], axis=1),
    ]
    weights = [
        weight(rng, "w0", 768, 392, scale=0.04),
        weight(rng, "b0", 392),
        weight(rng, "w1", 3072, 200, scale=0.02),
    ]
    shapes = {"x": [197, 768], "wide": [197, 3072]}
    return save_model(path, nodes, list(shapes.items()), [("y", [197, 592])], weights), shapes


def deploy(command, folder, mlir, mode, cores, feed):
    model = folder / f"{mode}_{cores}.pmodel"
    code, out, err = command(model_deploy, "--mlir", mlir, "--quantize", mode, "--num_core", cores, "--model", model)
    assert code == 0, out + err
    return InferenceSession(str(model)).run(None, feed)[0]


@pytest.mark.parametrize("build", [convolutions, products, long_rows])
def test_layers(command, tmp_path, build):
    onnx_file, shapes = build(tmp_path / "m.onnx")
    rng = np.random.default_rng(8)
    feed = {name: (rng.standard_normal(shape) * 0.5).astype(np.float32) for name, shape in shapes.items()}
    mlir = tmp_path / "m.mlir"
    code, out, err = command(model_transform, "--model_name", "m", "--model_def", onnx_file, "--mlir", mlir)
    assert code == 0, out + err
    expected = run_onnx(str(onnx_file), feed, all_tensors=False)["y"].astype(np.float64).ravel()
    for mode, bound in BOUNDS.items():
        first = deploy(command, tmp_path, mlir, mode, 1, feed)
        value = first.astype(np.float64).ravel()
        assert value @ expected / np.sqrt(value @ value * (expected @ expected)) >= bound, mode
        for cores in (2, 24):
            np.testing.assert_array_equal(
                first, deploy(command, tmp_path, mlir, mode, cores, feed), f"{mode} on {cores} cores"
            )

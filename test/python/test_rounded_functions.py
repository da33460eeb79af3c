"""Formulas that a body computes with fewer instructions because it rounds its result to a narrow type."""

import math

import ml_dtypes
import numpy as np
import pytest
from conftest import save_model
from onnx import helper, numpy_helper
from pto_mlir import compiler
from pto_mlir.runtime import InferenceSession

# The spacing of numbers at 1, and the least positive one.
TYPES = {"F16": (np.float16, 2.0**-10, 2.0**-24), "BF16": (ml_dtypes.bfloat16, 2.0**-7, 2.0**-133)}


def run(folder, nodes, constants, x, quantize):
    """What the nodes make of `x`, between two products with the identity, which round to the narrow type."""
    constants = [helper.make_tensor(name, 1, [], [value]) for name, value in constants.items()]
    constants.append(numpy_helper.from_array(np.eye(16, dtype=np.float32), "identity"))
    first, last = (
        helper.make_node("MatMul", [before, "identity"], [after]) for before, after in (("given", "x"), ("y", "made"))
    )
    rows = np.resize(x, (-(-len(x) // 16), 16))
    shape = list(rows.shape)
    save_model(folder / "m.onnx", [first, *nodes, last], [("given", shape)], [("made", shape)], constants)
    compiler.transform(str(folder / "m.onnx"), "m", None, [], str(folder / "m.mlir"), "")
    compiler.deploy(str(folder / "m.mlir"), str(folder / "m.pmodel"), quantize, "a3", 1, False)
    (made,) = InferenceSession(str(folder / "m.pmodel")).run(None, {"given": rows})
    return made.reshape(-1)[: len(x)].astype(np.float64)


def ulps(got, exact, quantize):
    _, spacing, least = TYPES[quantize]
    exponent = np.floor(np.log2(np.maximum(np.abs(exact), 1e-300)))
    return np.abs(got - exact) / np.maximum(spacing * 2.0**exponent, least)


def values(quantize, most):
    """All finite ones up to `most`, as f32."""
    x = np.arange(2**16, dtype=np.uint16).view(TYPES[quantize][0]).astype(np.float32)
    return np.sort(x[np.isfinite(x) & (np.abs(x) <= most)])


@pytest.mark.parametrize("quantize", ["F16", "BF16"])
def test_gelu_by_erf(tmp_path, quantize):
    """x (1 + erf(x / sqrt 2)) / 2 as exporters write it; below -5.9 the result is less than 6e-9."""
    nodes = [
        helper.make_node("Div", ["x", "root"], ["u"]),
        helper.make_node("Erf", ["u"], ["e"]),
        helper.make_node("Add", ["e", "one"], ["s"]),
        helper.make_node("Mul", ["x", "s"], ["p"]),
        helper.make_node("Mul", ["p", "half"], ["y"]),
    ]
    x = values(quantize, 60000)
    got = run(tmp_path, nodes, {"root": 2**0.5, "one": 1.0, "half": 0.5}, x, quantize)
    exact = np.array([0.5 * v * math.erfc(-v / math.sqrt(2)) for v in x.astype(np.float64)])
    near = x > -5.9
    assert ulps(got, exact, quantize)[near].max() <= 0.51
    assert np.abs(got)[~near].max() <= 4e-8


def test_gelu_in_other_orders_and_far_from_0(tmp_path):
    """The factor first and not 1 / 2, the sum the other way round, and what is far from 0 in bf16."""
    nodes = [
        helper.make_node("Mul", ["x", "scale"], ["h"]),
        helper.make_node("Div", ["x", "root"], ["u"]),
        helper.make_node("Erf", ["u"], ["e"]),
        helper.make_node("Add", ["one", "e"], ["s"]),
        helper.make_node("Mul", ["s", "h"], ["y"]),
    ]
    x = values("F16", 20000)
    got = run(tmp_path, nodes, {"root": 2**0.5, "one": 1.0, "scale": 1.5}, x, "F16")
    exact = np.array([1.5 * v * math.erfc(-v / math.sqrt(2)) for v in x.astype(np.float64)])
    near = x > -5.9
    assert ulps(got, exact, "F16")[near].max() <= 0.51
    assert np.abs(got)[~near].max() <= 1.2e-7
    (tmp_path / "wide").mkdir()
    top = run(
        tmp_path / "wide", nodes, {"root": 2**0.5, "one": 1.0, "scale": 1.5}, np.full(16, 1e30, np.float32), "BF16"
    )
    assert np.allclose(top, 3e30, rtol=2**-8)


def test_quotients_by_constants(tmp_path):
    """Of a hard swish: the product with the reciprocal costs a hundredth of an ulp at most."""
    nodes = [
        helper.make_node("Add", ["x", "three"], ["s"]),
        helper.make_node("Clip", ["s", "zero", "six"], ["c"]),
        helper.make_node("Mul", ["x", "c"], ["p"]),
        helper.make_node("Div", ["p", "six"], ["y"]),
    ]
    x = values("F16", 1000)
    got = run(tmp_path, nodes, {"three": 3.0, "zero": 0.0, "six": 6.0}, x, "F16")
    wide = x.astype(np.float64)
    assert ulps(got, wide * np.clip(wide + 3, 0, 6) / 6, "F16").max() <= 0.51


def test_quotients_before_jumps(tmp_path):
    """floor(x / 49) of multiples of 49, whose products with 1 / 49 in f32 are less."""
    nodes = [
        helper.make_node("Div", ["x", "c"], ["q"]),
        helper.make_node("Floor", ["q"], ["f"]),
        helper.make_node("Mul", ["f", "c"], ["y"]),
    ]
    x = 49 * np.arange(-41, 42, dtype=np.float32)
    assert np.array_equal(run(tmp_path, nodes, {"c": 49.0}, x, "F16"), x)

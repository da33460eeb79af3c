"""Weights that a model computes of weights: standardised filters, low-rank updates, spectral norms, softmax. What can
be evaluated is constant in the file; a filter that cannot is computed by the engines. Against onnxruntime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import backend

N = helper.make_node
RANDOM = np.random.default_rng(8)
FILTER = (8, 3, 3, 3)


def rand(*shape):
    return RANDOM.standard_normal(shape, np.float32)


def standardised():
    """By a batch normalisation whose channels are the filters, as exporters write a weight standardisation."""
    weights = {"w": rand(*FILTER), "scale": rand(8), "bias": rand(8), "mean": rand(8), "var": rand(8) ** 2 + 0.1}
    weights |= {"rows": np.array([1, 8, -1]), "shape": np.array(FILTER)}
    return weights, [
        N("Reshape", ["w", "rows"], ["r"]),
        N("BatchNormalization", ["r", "scale", "bias", "mean", "var"], ["n"]),
        N("Reshape", ["n", "shape"], ["filter"]),
    ]


def low_rank():
    weights = {"w": rand(*FILTER), "a": rand(8, 2), "b": rand(2, 27), "shape": np.array(FILTER)}
    return weights, [
        N("MatMul", ["a", "b"], ["ab"]),
        N("Reshape", ["ab", "shape"], ["update"]),
        N("Add", ["w", "update"], ["filter"]),
    ]


def spectral():
    """Divided by u W v, of which the products are a row by a matrix and a matrix by a column."""
    weights = {"w": rand(*FILTER), "u": rand(1, 8), "v": rand(27, 1), "rows": np.array([8, 27])}
    return weights, [
        N("Reshape", ["w", "rows"], ["m"]),
        N("MatMul", ["u", "m"], ["um"]),
        N("MatMul", ["um", "v"], ["sigma"]),
        N("Div", ["w", "sigma"], ["filter"]),
    ]


def weighted():
    """A softmax, which is not evaluated."""
    return {"w": rand(*FILTER)}, [N("Softmax", ["w"], ["filter"], axis=1)]


@pytest.mark.parametrize("strides", [1, 2])
@pytest.mark.parametrize("make", [standardised, low_rank, spectral, weighted])
def test_filters(make, strides):
    weights, nodes = make()
    graph = helper.make_graph(
        [*nodes, N("Conv", ["x", "filter"], ["y"], strides=[strides] * 2, pads=[1, 1, 1, 1])],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 3, 9, 10))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (2, 8, -(-9 // strides), 10 // strides))],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    x = rand(2, 3, 9, 10)
    (wanted,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    (got,) = backend.run_model(model, [x])
    np.testing.assert_allclose(got, wanted, atol=1e-5 * np.abs(wanted).max())

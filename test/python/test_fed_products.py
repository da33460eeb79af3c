"""Products whose left operand the vector cores of each block make: norms, gates and activations in front of a product,
with vector work behind it or not; their numbers in every mode, on every number of cores and on both architectures."""

import re

import numpy as np
import pytest
from conftest import save_model, weight
from onnx import helper, numpy_helper
from pto_mlir.runtime import InferenceSession
from test_mixed_kernels import convolution, deploy, launches, models_with_the_numbers


def values(*tensors):
    return [np.frombuffer(t.raw_data, np.float32).reshape(t.dims).astype(np.float64) for t in tensors]


def norm(path):
    """Whole rows of a layer norm; 197 rows are no whole blocks."""
    rng = np.random.default_rng(21)
    tensors = [weight(rng, "s", 48), weight(rng, "t", 48), weight(rng, "w", 48, 40, scale=0.3), weight(rng, "b", 40)]
    nodes = [
        helper.make_node("LayerNormalization", ["x", "s", "t"], ["n"], axis=-1),
        helper.make_node("MatMul", ["n", "w"], ["p"]),
        helper.make_node("Add", ["p", "b"], ["y"]),
    ]
    save_model(path, nodes, [("x", [197, 48])], [("y", [197, 40])], tensors)
    s, t, w, b = values(*tensors)

    def expected(x):
        centred = x - x.mean(-1, keepdims=True)
        return (centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * s + t) @ w + b

    return {"x": [197, 48]}, expected


def gate(path):
    """Columns times a gate, then a product and a residual: vector, cube, vector."""
    rng = np.random.default_rng(22)
    tensors = [weight(rng, "w", 36, 20, scale=0.2), weight(rng, "b", 20)]
    nodes = [
        helper.make_node("Mul", ["x", "g"], ["m"]),
        helper.make_node("MatMul", ["m", "w"], ["p"]),
        helper.make_node("Add", ["p", "b"], ["q"]),
        helper.make_node("Add", ["q", "r"], ["y"]),
    ]
    inputs = {"x": [1147, 36], "g": [1, 36], "r": [1147, 20]}
    save_model(path, nodes, list(inputs.items()), [("y", [1147, 20])], tensors)
    w, b = values(*tensors)
    return inputs, lambda x, g, r: x * g @ w + b + r


def activation(path):
    """As in DenseNet: a batch norm and a relu in front of a 1x1 convolution of more channels than a tile has. Another
    user of what they read keeps them out of the kernel in front."""
    rng = np.random.default_rng(23)
    filters = [weight(rng, "u", 24, 16, 3, 3, scale=0.1), weight(rng, "f", 136, 24, 1, 1, scale=0.2)]
    filters += [weight(rng, "g", 8, 136, 3, 3, scale=0.05), weight(rng, "k", 8, 24, 3, 3, scale=0.1)]
    norms = [weight(rng, name, 24) for name in "stm"]
    norms.append(numpy_helper.from_array(rng.uniform(0.5, 2, 24).astype(np.float32), "v"))
    biases = [weight(rng, "a", 24), weight(rng, "b", 136), weight(rng, "d", 8), weight(rng, "e", 8)]
    nodes = [
        helper.make_node("Conv", ["x", "u", "a"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c", "s", "t", "m", "v"], ["n"]),
        helper.make_node("Relu", ["n"], ["h"]),
        helper.make_node("Conv", ["h", "f", "b"], ["p"]),
        helper.make_node("Conv", ["p", "g", "d"], ["q"], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["c", "k", "e"], ["r"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["q", "r"], ["y"]),
    ]
    save_model(path, nodes, [("x", [2, 16, 23, 29])], [("y", [2, 8, 23, 29])], filters + norms + biases)
    (u, f, g, k), (a, b, d, e) = values(*filters), values(*biases)
    s, t, m, v = (value[:, None, None] for value in values(*norms))

    def expected(x):
        c = convolution(x, u, a)
        h = np.maximum((c - m) / np.sqrt(v + 1e-5) * s + t, 0)
        return convolution(convolution(h, f, b), g, d) + convolution(c, k, e)

    return {"x": [2, 16, 23, 29]}, expected


def batched(path):
    """Left operands of a batch of products, each computed from two inputs."""
    nodes = [
        helper.make_node("Tanh", ["a"], ["t"]),
        helper.make_node("Mul", ["t", "s"], ["l"]),
        helper.make_node("MatMul", ["l", "b"], ["y"]),
    ]
    inputs = {"a": [6, 50, 24], "s": [6, 50, 24], "b": [6, 24, 40]}
    save_model(path, nodes, list(inputs.items()), [("y", [6, 50, 40])], [])
    return inputs, lambda a, s, b: (np.tanh(a) * s) @ b


def quantised(path):
    """Left operands of int8 from a relu; their scale, a power of two, makes the quantisation exact in f32."""
    rng = np.random.default_rng(24)
    whole = rng.integers(-100, 100, (96, 40)).astype(np.int8)
    scales = {"l": np.float32(2**-6), "r": np.float32(1e-3)}
    tensors = [weight(rng, "b", 40), numpy_helper.from_array(whole, "w"), numpy_helper.from_array(np.int8(0), "z")]
    tensors += [numpy_helper.from_array(scale, name) for name, scale in scales.items()]
    nodes = [
        helper.make_node("Relu", ["x"], ["h"]),
        helper.make_node("QuantizeLinear", ["h", "l", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "l", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "r", "z"], ["e"]),
        helper.make_node("MatMul", ["d", "e"], ["p"]),
        helper.make_node("Add", ["p", "b"], ["y"]),
    ]
    save_model(path, nodes, [("x", [613, 96])], [("y", [613, 40])], tensors)
    (bias,) = values(tensors[0])

    def expected(x):
        left = np.clip(np.rint(np.maximum(x, 0) * 2**6), -128, 127)
        return left @ whole.astype(np.float64) * 2**-6 * 1e-3 + bias

    return {"x": [613, 96]}, expected


def fed(model):
    """Its kernels that begin with a norm, a gate, an activation or a conversion, which has no name where it is from
    f32."""
    return [name for name in launches(model) if re.match(r"k\d+_([nmhld]|generic)_k\d+_", name)]


MAKERS = [norm, gate, activation, batched, quantised]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("quantize", ["F32", "F16", "BF16"])
def test_fed_products_compute_the_same(command, tmp_path, make, quantize):
    for cores, model in models_with_the_numbers(command, tmp_path, make, quantize):
        # Few cores would make many operands one after the other, which what loads fewer bytes does not hide.
        few = cores < 24 and (make is batched or quantize != "F32")
        assert few or fed(model), (cores, launches(model))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("processor", ["a3", "a5"])
def test_every_mode_agrees(command, tmp_path, make, processor):
    options = ("--num_core", 24, "--quantize", "F16", "--processor", processor)
    model, feed, wanted = deploy(command, tmp_path, make, *options)
    (expected,) = InferenceSession(str(model)).run(None, feed)
    np.testing.assert_allclose(expected, wanted, rtol=4e-3, atol=16e-3)
    assert fed(model), launches(model)
    for mode in ("checked", "shuffled:5", "timing"):
        (got,) = InferenceSession(str(model), mode=mode).run(None, feed)
        assert np.array_equal(got, expected), mode


@pytest.mark.parametrize("make", [gate, activation])
def test_feeding_takes_less_time(command, tmp_path, make):
    seconds = []
    for options in (["--debug"], []):
        model, feed, _ = deploy(command, tmp_path, make, "--num_core", 24, *options)
        session = InferenceSession(str(model), mode="timing")
        session.run(None, feed)
        seconds.append(session.profile()["seconds"])
    assert seconds[1] < 0.9 * seconds[0]

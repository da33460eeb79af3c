"""QuantizeLinear, DequantizeLinear and the products of whole numbers: exactly onnxruntime's results."""

import numpy as np
import one_node
import pytest
from one_node import onnxruntime
from onnx import TensorProto, helper
from pto_mlir import backend
from pto_mlir.errors import UserError

N = helper.make_node
RANDOM = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def seeded():
    """Each test draws the same numbers, whatever ran before it."""
    global RANDOM
    RANDOM = np.random.default_rng(5)


def compare(node, feed, opset=21):
    """Ours and onnxruntime's result of one node are equal bit by bit; returns it and our backend's record."""
    (wanted,) = onnxruntime(node, feed.values(), opset)
    rep = backend.Rep(one_node.model(node, feed.values(), opset))
    (got,) = rep.run(list(feed.values()))
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)
    return got, rep


def whole(dtype, *shape):
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_quantize(dtype):
    """Ties, both ends of the type, the whole tensor, an axis and blocks."""
    x = np.concatenate([np.arange(-300, 300) * 0.125, RANDOM.standard_normal(424) * 1e3]).astype(np.float32)
    x = x.reshape(4, 16, 16)
    scale, zero = RANDOM.uniform(0.01, 2, 16).astype(np.float32), whole(dtype, 16)
    compare(N("QuantizeLinear", ["x", "s"], ["y"]), {"x": x, "s": np.float32([0.25])[0:1].reshape(())})
    compare(N("QuantizeLinear", ["x", "s", "z"], ["y"]), {"x": x, "s": scale[0], "z": zero[0]})
    got, rep = compare(N("QuantizeLinear", ["x", "s", "z"], ["y"], axis=-2), {"x": x, "s": scale, "z": zero})
    assert len(np.unique(got)) > 50
    blocks = {"x": x, "s": np.resize(scale, (4, 4, 16)), "z": np.resize(zero, (4, 4, 16))}
    compare(N("QuantizeLinear", ["x", "s", "z"], ["y"], axis=1, block_size=4), blocks)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.int32])
def test_dequantize(dtype):
    x = whole(dtype, 4, 16, 6)
    scale = RANDOM.uniform(0.01, 2, 16).astype(np.float32)
    zero = np.zeros(16, dtype) if dtype is np.int32 else whole(dtype, 16)
    compare(N("DequantizeLinear", ["x", "s", "z"], ["y"]), {"x": x, "s": scale, "z": zero})
    compare(N("DequantizeLinear", ["x", "s"], ["y"]), {"x": x, "s": scale[0]})


@pytest.mark.parametrize("depth", [40, 3000])
def test_integer_products(depth):
    """Sums within the 24 bits of f32, on the engines, and beyond, on the host."""
    a, b = whole(np.uint8, 5, depth), whole(np.uint8, depth, 7)
    node = N("MatMulInteger", ["a", "b", "p", "q"], ["y"])
    _, rep = compare(node, {"a": a, "b": b, "p": np.uint8(130), "q": whole(np.uint8, 7)})
    assert any("matmul" in op for op in rep.host_ops) == (depth == 3000)
    parts = {"a": a, "r": np.float32(0.02), "p": np.uint8(120), "b": b, "s": np.float32(0.013), "q": np.uint8(131)}
    step = 0.02 * 0.013 * 128 * 128 * np.sqrt(depth) / 60
    feed = {**parts, "t": np.float32(step), "z": np.uint8(101)}
    got, _ = compare(N("QLinearMatMul", list(feed), ["y"]), feed)
    assert len(np.unique(got)) > 10


def test_integer_convolutions():
    # Weights of 7 bits: onnxruntime saturates sums of two products on processors without VNNI.
    x, w = whole(np.uint8, 2, 4, 9, 11), RANDOM.integers(-64, 64, (6, 2, 3, 3), np.int8)
    compare(
        N("ConvInteger", ["x", "w", "p"], ["y"], group=2), {"x": x, "w": whole(np.uint8, 6, 2, 3, 3), "p": np.uint8(7)}
    )
    feed = {
        **{"x": x, "r": np.float32(0.03), "p": np.uint8(120), "w": w},
        **{"s": RANDOM.uniform(0.01, 0.1, 6).astype(np.float32), "q": np.zeros(6, np.int8)},
        **{"t": np.float32(1.5), "z": np.uint8(99), "b": RANDOM.integers(-9000, 9000, 6, np.int32)},
    }
    got, _ = compare(N("QLinearConv", list(feed), ["y"], group=2, pads=[1, 0, 2, 1], strides=[2, 1]), feed)
    assert len(np.unique(got)) > 50


def test_dynamic_quantisation():
    """By the function body of the operator."""
    x = RANDOM.standard_normal((6, 7), np.float32) * 3
    node = N("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])
    y, s, z = backend.run_node(node, [x], opset_version=13)
    np.testing.assert_allclose((y.astype(np.float32) - z) * s, x, atol=s)
    assert y.dtype == z.dtype == np.uint8


def test_blocked_scales_of_another_shape():
    x, s = np.ones((4, 6), np.float32), np.ones((2, 2), np.float32)
    with pytest.raises(UserError, match="divided by block_size"):
        backend.run_node(
            N("QuantizeLinear", ["x", "s"], ["y"], axis=1, block_size=2, output_dtype=TensorProto.INT8),
            [x, s],
            opset_version=21,
        )


def test_zero_points_of_a_scalar():
    x, s, z = np.int8(3), np.float32(0.5), np.array([1, 2, 3], np.int8)
    with pytest.raises(UserError, match="one number, or one for each index of an axis"):
        backend.run_node(N("DequantizeLinear", ["x", "s", "z"], ["y"]), [x, s, z], opset_version=21)


@pytest.mark.parametrize("dtype", [np.uint64, np.int64])
def test_quantised_to_64_bits(dtype):
    x, s, z = np.ones(3, np.float32), np.float32(0.5), np.array(1, dtype)
    with pytest.raises(UserError, match="integers of at most 32 bits"):
        backend.run_node(N("QuantizeLinear", ["x", "s", "z"], ["y"]), [x, s, z], opset_version=21)

"""Operators of com.microsoft against onnxruntime, over random shapes and attributes; quantised ones bit by bit."""

import numpy as np
import one_node
import pytest
from one_node import onnxruntime
from onnx import helper
from pto_mlir import backend
from pto_mlir.errors import UserError

RANDOM = np.random.default_rng(3)
F = np.float32


def rand(*shape):
    return RANDOM.standard_normal(shape, F)


def whole(dtype, *shape):
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max, shape, dtype, endpoint=True)


def node_of(op, inputs, outputs=("y",), domain="com.microsoft", **attributes):
    return helper.make_node(op, inputs, list(outputs), domain=domain, **attributes)


def ours(node, arrays, opset=21):
    rep = backend.Rep(one_node.model(node, arrays, opset))
    return list(rep.run([np.asarray(array) for array in arrays])), rep


def compare(op, feed, outputs=("y",), atol=1e-5, host=False, version=21, domain="com.microsoft", **attributes):
    """Ours and onnxruntime's outputs; inputs that are None are left out. atol 0: the same bits."""
    names = [name if array is not None else "" for name, array in feed.items()]
    arrays = [array for array in feed.values() if array is not None]
    node = node_of(op, names, outputs, domain, **attributes)
    got, rep = ours(node, arrays, version)
    for own, wanted in zip(got, onnxruntime(node, arrays, version), strict=True):
        assert own.dtype == wanted.dtype and own.shape == wanted.shape
        if atol == 0 or own.dtype.kind in "iu":
            np.testing.assert_array_equal(own, wanted)
        else:
            np.testing.assert_allclose(own, wanted, rtol=1e-4, atol=atol)
    assert host or not rep.host_ops, rep.host_ops
    return got


def test_gelus():
    x, bias = rand(3, 5, 17) * 4, rand(17)
    compare("Gelu", {"x": x})
    compare("BiasGelu", {"x": x, "b": bias})
    compare("FastGelu", {"x": x})
    compare("FastGelu", {"x": x, "b": bias})
    compare("QuickGelu", {"x": x})
    compare("QuickGelu", {"x": x}, alpha=0.7)


def test_normalisations():
    x, skip, scale, shift, bias = rand(2, 5, 24), rand(2, 5, 24), rand(24), rand(24), rand(24)
    compare("LayerNormalization", {"x": x, "g": scale, "b": shift}, domain="", version=13, axis=-1)
    compare("SimplifiedLayerNormalization", {"x": x, "g": scale}, domain="", version=13, axis=-1, epsilon=1e-6)
    for shape in ((2, 5, 24), (1, 5, 24), (5, 24)):
        feed = {"x": x, "s": skip.reshape(-1)[: np.prod(shape)].reshape(shape), "g": scale, "b": shift, "c": bias}
        compare("SkipLayerNormalization", feed, ("y", "", "", "sum"))
        compare("SkipLayerNormalization", {**feed, "b": None}, epsilon=1e-3)
    compare("SkipLayerNormalization", {"x": x, "s": skip, "g": scale}, ("y", "", "", "sum"))
    compare("SkipSimplifiedLayerNormalization", {"x": x, "s": skip, "g": scale, "c": bias}, ("y", "", "", "sum"))
    compare("SkipSimplifiedLayerNormalization", {"x": x, "s": skip, "g": scale})


@pytest.mark.parametrize("op", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_statistics(op):
    """onnxruntime's kernels leave these outputs unset: compared with numpy in float64."""
    x, skip, gamma = rand(3, 5, 24), rand(3, 5, 24), rand(24)
    (_, mean, inverse, total), rep = ours(node_of(op, ["x", "s", "g"], "ymia", epsilon=1e-3), [x, skip, gamma])
    assert not rep.host_ops
    exact = x.astype(np.float64) + skip
    centre = exact.mean(-1, keepdims=True)
    away = exact - (centre if op == "SkipLayerNormalization" else 0)
    np.testing.assert_allclose(total, exact, atol=1e-6)
    np.testing.assert_allclose(mean, centre, atol=1e-6)
    np.testing.assert_allclose(inverse, 1 / np.sqrt((away**2).mean(-1, keepdims=True) + 1e-3), rtol=1e-5)


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("columns", [False, True])
def test_dynamically_quantised_lstm(direction, columns):
    """Of one sequence: onnxruntime quantises the states of several together or apart, by its number of threads."""
    directions, steps, features, hidden = 1 + (direction == "bidirectional"), 4, 6, 8
    scales = (directions, 4 * hidden) if columns else (directions,)
    # Two products fit 16 bits, in which onnxruntime adds them on processors without VNNI.
    weight = lambda *shape: RANDOM.integers(-64, 64, shape, np.int8)  # noqa: E731
    feed = {"x": rand(steps, 1, features)}
    for name, value in {
        "w": weight(directions, features, 4 * hidden),
        "r": weight(directions, hidden, 4 * hidden),
        "b": rand(directions, 8 * hidden),
        "l": None,
        "h": rand(directions, 1, hidden),
        "c": rand(directions, 1, hidden),
        "p": None,
        "ws": np.float32(RANDOM.uniform(0.004, 0.008, scales)),
        "wz": np.zeros(scales, np.int8),
        "rs": np.float32(RANDOM.uniform(0.004, 0.008, scales)),
        "rz": np.zeros(scales, np.int8),
    }.items():
        feed[name] = value
    compare("DynamicQuantizeLSTM", feed, ("y", "h_", "c_"), hidden_size=hidden, direction=direction)
    with pytest.raises(UserError, match="input 8 has one number for each direction"):
        compare("DynamicQuantizeLSTM", feed | {"ws": rand(3)}, hidden_size=hidden, direction=direction)


@pytest.mark.parametrize("segments", [True, False])
def test_embeddings(segments):
    feed = {
        "i": RANDOM.integers(0, 30, (3, 6), np.int32),
        "s": RANDOM.integers(0, 2, (3, 6), np.int32) if segments else None,
        "w": rand(30, 16),
        "p": rand(9, 16),
        "t": rand(2, 16) if segments else None,
        "g": rand(16),
        "b": rand(16),
        "m": (np.arange(6) < np.array([[6], [2], [4]])).astype(np.int32),
        "q": RANDOM.integers(0, 9, (3, 6), np.int32),
    }
    compare("EmbedLayerNormalization", feed, ("y", "i_", "sum"), mask_index_type=1, host=True)
    compare("EmbedLayerNormalization", {name: feed[name] for name in "iswptgb"}, ("y", "i_"), epsilon=1e-5, host=True)


@pytest.mark.parametrize(
    "activation, parameters",
    [
        ("Relu", []),
        ("Tanh", []),
        ("Sigmoid", []),
        ("LeakyRelu", [0.2]),
        ("Clip", [-0.5, 0.7]),
        ("HardSigmoid", [0.3, 0.4]),
    ],
)
def test_fused_convolutions(activation, parameters):
    x, w, b = rand(2, 4, 9, 8), rand(6, 2, 3, 2), rand(6)
    window = {"strides": [2, 1], "pads": [1, 0, 1, 1], "group": 2}
    options = {"activation": activation, "activation_params": parameters} if parameters else {"activation": activation}
    compare("FusedConv", {"x": x, "w": w, "b": b}, **options, **window)
    if activation == "Relu":
        compare("FusedConv", {"x": x, "w": w, "b": b, "z": rand(2, 6, 5, 8)}, **options, **window)
        compare("FusedConv", {"x": x, "w": w}, auto_pad="SAME_UPPER", group=2, strides=[2, 2], **options)
        with pytest.raises(UserError, match="'Cosh' is not supported"):
            ours(node_of("FusedConv", ["x", "w"], activation="Cosh", group=2), [x, w])


def test_convolutions_with_the_channels_last():
    """onnxruntime has none for floats on a CPU: its Conv on the other order."""
    x, w, b, z = rand(2, 4, 9, 8), rand(6, 4, 3, 2), rand(6), rand(2, 6, 5, 4)
    options = {"auto_pad": "SAME_LOWER", "strides": [2, 2]}
    (plain,) = onnxruntime(helper.make_node("Conv", ["x", "w", "b"], ["y"], **options), [x, w, b], 21)
    last = x.transpose(0, 2, 3, 1).copy()
    (got,), _ = ours(node_of("NhwcConv", ["x", "w", "b"], **options), [last, w, b])
    np.testing.assert_allclose(got, plain.transpose(0, 2, 3, 1), atol=1e-5)
    node = node_of("NhwcFusedConv", ["x", "w", "b", "z"], activation="Relu", **options)
    (got,), _ = ours(node, [last, w, b, z.transpose(0, 2, 3, 1).copy()])
    np.testing.assert_allclose(got, np.maximum(plain + z, 0).transpose(0, 2, 3, 1), atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"alpha": 0.3}, {"transA": 1, "alpha": -2.0}, {"transB": 1}])
def test_fused_products(options):
    a, b = rand(2, 3, 5, 7), rand(2, 3, 7, 4)
    a = a.swapaxes(2, 3).copy() if "transA" in options else a
    b = b.swapaxes(2, 3).copy() if "transB" in options else b
    compare("FusedMatMul", {"a": a, "b": b}, **options)
    turned = np.moveaxis(rand(2, 3, 5, 7), 2, 0).copy()
    compare("FusedMatMul", {"a": turned, "b": rand(2, 3, 7, 4)}, transBatchA=1)
    compare("FusedMatMul", {"a": rand(7), "b": rand(7, 4)}, alpha=0.5)
    left, right = rand(7, 5), rand(4, 7)
    compare(
        "FusedGemm", {"a": left, "b": right, "c": rand(4)}, transA=1, transB=1, alpha=0.5, beta=2.0, activation="Relu"
    )
    compare("FusedGemm", {"a": left, "b": right}, transA=1, transB=1, activation="LeakyRelu", activation_alpha=0.3)


def test_grid_sample():
    for mode in ("bilinear", "nearest", "bicubic"):
        feed = {"x": rand(2, 3, 5, 6), "g": RANDOM.uniform(-1.2, 1.2, (2, 4, 3, 2)).astype(F)}
        compare("GridSample", feed, mode=mode, padding_mode="border", align_corners=1, host=True)


def scales(count):
    return RANDOM.uniform(0.01, 0.1, count).astype(F)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_quantised_elements(dtype):
    """Sums and products with every rounding of onnxruntime's kernels; functions; parts; choices."""
    for round_ in range(4):
        x, y = whole(dtype, 3, 700), whole(dtype, 3, 700)
        a, b, c = scales(3) if round_ else F([0.25, 0.5, 0.5])
        p, q, r = whole(dtype, 3)
        pair = {"x": x, "a": a, "p": p, "w": y, "b": b, "q": q, "c": c, "r": r}
        compare("QLinearAdd", pair, atol=0)
        compare("QLinearMul", pair, atol=0)
        own = {"x": x, "a": a, "p": p, "c": c, "r": r}
        compare("QLinearLeakyRelu", own, atol=0, alpha=0.1)
        compare("QLinearSigmoid", {**own, "c": F(1 / 256)}, atol=0)
        parts = {"c": c, "r": r, "x": x, "a": a, "p": p, "w": y[:, :9], "b": b, "q": q}
        compare("QLinearConcat", parts, atol=0, axis=1)
        chosen = {"n": RANDOM.integers(0, 2, (3, 700)).astype(bool), **pair}
        compare("QLinearWhere", chosen, atol=0)
    compare("QLinearAdd", {**pair, "w": y[:1]}, atol=0)
    compare("QLinearMul", {**pair, "w": y[0, 0]}, atol=0)
    # onnxruntime asks for the zero points that ONNX lets one leave out.
    zeros = {**pair, "p": dtype(0), "r": dtype(0)}
    (wanted,) = onnxruntime(node_of("QLinearAdd", list(zeros)), zeros.values(), 21)
    left_out = [array for name, array in pair.items() if name not in "pr"]
    (got,), _ = ours(node_of("QLinearAdd", ["x", "a", "", "w", "b", "q", "c"]), left_out)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_quantised_and_back(dtype):
    x, step, zero = rand(4, 6, 5) * 3, scales(6), whole(dtype, 6)
    feed = {"x": x, "s": step, "z": zero}
    (got,) = compare("QuantizeLinear", feed, atol=0, host=True, axis=1)
    compare("DequantizeLinear", {**feed, "x": got}, atol=0, host=True, axis=1)
    compare("QuantizeLinear", {"x": x, "s": step[0], "z": zero[0]}, atol=0, host=True)


def test_quantised_softmax():
    x = whole(np.uint8, 4, 30)
    feed = {"x": x, "a": F(0.02), "p": np.uint8(7), "c": F(1 / 256), "r": np.uint8(0)}
    compare("QLinearSoftmax", feed, atol=0, axis=1, opset=13)
    compare("QLinearSoftmax", {**feed, "x": x.reshape(4, 6, 5)}, atol=0, axis=1, opset=13)


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_quantised_pools(dtype, last):
    for a, c in (scales(2), F([0.25, 0.5])):
        p, r = whole(dtype, 2)
        feed = {"x": whole(dtype, 2, 6, 7, 5), "a": a, "p": p, "c": c, "r": r}
        compare("QLinearGlobalAveragePool", feed, atol=0, channels_last=last)
        window = {"kernel_shape": [2, 2], "strides": [2, 1], "channels_last": last}
        compare("QLinearAveragePool", feed, atol=0, **window)
        compare("QLinearAveragePool", feed, atol=0, pads=[1, 0, 0, 1], count_include_pad=1, **window)


def test_quantised_products():
    a, b, bias = whole(np.uint8, 20, 64), whole(np.uint8, 64, 30), rand(30)
    zeros = {"p": np.uint8(120), "q": whole(np.uint8, 30)}
    compare("MatMulIntegerToFloat", {"a": a, "b": b, "s": F(0.013), "t": scales(30), **zeros, "c": bias}, atol=0)
    compare("MatMulIntegerToFloat", {"a": a, "b": b, "s": F(0.013), "t": F(0.02)}, atol=0)
    x = rand(3, 20, 64)
    compare("DynamicQuantizeMatMul", {"x": x, "b": b, "t": scales(30), "q": zeros["q"], "c": bias}, atol=0)
    compare("DynamicQuantizeMatMul", {"x": x, "b": b, "t": F(0.02)}, atol=0)
    compare("DynamicQuantizeMatMul", {"x": np.zeros_like(x), "b": b, "t": F(0.02)}, atol=0)
    gemm = {"a": a, "s": F(0.013), "p": np.uint8(120), "b": b.T.copy(), "t": scales(30), "q": zeros["q"]}
    counts = RANDOM.integers(-900, 900, 30, np.int32)
    compare("QGemm", {**gemm, "c": counts, "u": F(3.5), "z": np.uint8(99)}, atol=0, transB=1, host=True)
    compare("QGemm", {**gemm, "c": None}, atol=0, transB=1, alpha=0.5)


@pytest.mark.parametrize("per_column", [False, True])
def test_quantised_attention(per_column):
    batch, rows, hidden, heads = 2, 5, 16, 4
    shape = (3 * hidden,) if per_column else ()
    feed = {
        "x": whole(np.uint8, batch, rows, hidden),
        "w": whole(np.int8, hidden, 3 * hidden) // 2,  # onnxruntime saturates products of more on some machines
        "b": rand(3 * hidden),
        "s": F(0.01),
        "t": scales(3 * hidden) / 10 if per_column else F(0.01),
        "m": None,
        "p": np.uint8(120),
        "q": np.zeros(shape, np.int8),
    }
    compare("QAttention", feed, num_heads=heads)
    compare("QAttention", {**feed, "m": np.array([3, 5], np.int32)}, num_heads=heads, atol=1e-4)
    compare("QAttention", feed, num_heads=heads, unidirectional=1)
    past = rand(2, batch, heads, 3, hidden // heads)
    compare("QAttention", {**feed, "past": past}, ("y", "present"), num_heads=heads, unidirectional=1)


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("group", [1, 2])
def test_quantised_convolutions(last, group):
    x, w = whole(np.uint8, 2, 7, 6, 6), whole(np.int8, 4, 6 // group, 3, 3) // 2  # as above
    x = x if last else np.moveaxis(x, -1, 1).copy()
    feed = {"x": x, "s": F(0.02), "p": np.uint8(120), "w": w, "t": scales(4), "q": np.int8(0), "u": F(0.9)}
    counts = RANDOM.integers(-900, 900, 4, np.int32)
    window = {"group": group, "strides": [2, 1], "pads": [1, 0, 1, 2]}
    compare("QLinearConv", {**feed, "z": np.uint8(99), "c": counts}, atol=0, host=True, channels_last=last, **window)


@pytest.mark.parametrize(
    "bits, zeros", [(4, None), (8, None), (4, "packed"), (8, "packed"), (4, "floats")]
)  # onnxruntime has no zero points of floats for 8 bits
def test_products_with_few_bits(bits, zeros):
    """onnxruntime reads the weights as constants, as we do."""
    rows, depth, block = 10, 50, 16
    blocks = -(-depth // block)
    packed = whole(np.uint8, rows, blocks, block * bits // 8)
    feed = {"a": rand(2, 3, depth), "b": packed, "s": scales(rows * blocks)}
    if zeros == "packed":
        feed["z"] = whole(np.uint8, rows * -(-blocks * bits // 8))
    elif zeros == "floats":
        feed["z"] = RANDOM.uniform(0, 2**bits, rows * blocks).astype(F)
    node = node_of("MatMulNBits", list(feed), K=depth, N=rows, bits=bits, block_size=block)
    (wanted,) = onnxruntime(node, feed.values(), 21)
    made = one_node.model(node, feed.values(), 21)
    rep = backend.Rep(backend._with_values(made, {name: feed[name] for name in feed if name != "a"}, feed))
    (got,) = rep.run([feed["a"]])
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    with pytest.raises(UserError, match="must be constants"):
        backend.Rep(made).run(list(feed.values()))

"""INT8 products and convolutions of hand-made types: every number as numpy computes it, on any number of cores."""

import numpy as np
import pytest
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy
from quantised_net import Net, convolved, factors, quantised, requantised

BITS11 = 0x1FFF  # what a scale of the fixpipe's buffer lacks


def coarse(values):
    """The nearest f32 of 11 significant bits."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x1000) & ~np.uint64(BITS11)).astype(np.uint32).view(np.float32)


def bytes_of(rng, *shape, low=-128):
    return rng.integers(low, 128, shape).astype(np.int8)


def deploy(command, folder, path, chip, cores, mode="F32"):
    model = folder / f"{chip}_{cores}_{mode}.pmodel"
    code, out, err = command(
        model_deploy, "--mlir", path, "--quantize", mode, "--processor", chip, "--num_core", cores, "--model", model
    )
    assert code == 0, out + err
    return InferenceSession(str(model))


def check(command, folder, path, feed, expected, mode="F32"):
    for chip in ("a3", "a5"):
        for cores in (1, 24):
            (got,) = deploy(command, folder, path, chip, cores, mode).run(None, feed)
            assert got.dtype == expected.dtype and np.array_equal(got, expected), (
                chip,
                cores,
                np.argwhere(got != expected)[:5],
                np.count_nonzero(got != expected),
            )


# m, k, n: whole tiles, ragged everywhere, more columns than the fixpipe's buffer has descriptors, K in panels.
PRODUCTS = [(64, 64, 64), (37, 45, 19), (5, 70, 601), (130, 1500, 40)]


@pytest.mark.parametrize("channels", [False, True], ids=["tensor", "channel"])
@pytest.mark.parametrize("shape", PRODUCTS, ids=str)
@pytest.mark.parametrize("zeros,relu", [((0, 0), False), ((0, 0), True), ((7, -128), True), ((-11, 3), False)], ids=str)
def test_product(command, tmp_path, shape, channels, zeros, relu):
    m, k, n = shape
    rng = np.random.default_rng(k)
    w, b = bytes_of(rng, k, n, low=-127), rng.integers(-9999, 10000, n).astype(np.int32)
    x = bytes_of(rng, m, k)
    sums = (x.astype(np.int64) - zeros[0]) @ w.astype(np.int64) + b
    # M has 11 bits: the scales of input and output are powers of 2.
    sw = coarse(2.0**-6 * rng.uniform(0.5, 1, n) / np.sqrt(k)) if channels else coarse(2.0**-7 / np.sqrt(k))
    net = Net([("x", (m, k), quantised(0.5, zeros[0]))])
    wt = net.weight("w", w, quantised(sw, axis=1) if channels else quantised(float(sw)))
    y = net.matmul("y", net.inputs[0], wt, net.weight("b", b, "i32"), quantised(0.5, zeros[1]))
    if relu:
        y = net.relu("r", y)
    expected = requantised(sums, factors(0.5, sw, 0.5), zeros[1], relu)
    assert expected.std() > 10  # neither all saturated nor all 0
    check(command, tmp_path, net.save(tmp_path, [y]), {"x": x}, expected)


# channels, features, kernel, stride, pads, groups, size
CONVOLUTIONS = [
    (32, 32, 3, 1, (1, 1, 1, 1), 1, (12, 12)),
    (3, 17, 3, 2, (0, 1, 1, 0), 1, (19, 13)),
    (40, 24, 1, 1, (0, 0, 0, 0), 1, (9, 7)),
    (24, 36, 3, 1, (1, 1, 1, 1), 3, (10, 11)),
]


@pytest.mark.parametrize("channels", [False, True], ids=["tensor", "channel"])
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("zeros,relu", [((0, 0), True), ((0, 0), False), ((-5, -128), True)], ids=str)
def test_convolution(command, tmp_path, case, channels, zeros, relu):
    c, f, kernel, stride, pads, groups, size = case
    rng = np.random.default_rng(c)
    w = bytes_of(rng, f, c // groups, kernel, kernel, low=-127)
    b = rng.integers(-9999, 10000, f).astype(np.int32)
    x = bytes_of(rng, 2, c, *size)
    sums = convolved(x, w, pads, (stride, stride), groups, zeros[0]) + b[:, None, None]
    depth = (c // groups) * kernel * kernel
    sw = coarse(2.0**-6 * rng.uniform(0.5, 1, f) / np.sqrt(depth)) if channels else coarse(2.0**-7 / np.sqrt(depth))
    net = Net([("x", x.shape, quantised(0.25, zeros[0]))])
    wt = net.weight("w", w, quantised(sw, axis=0) if channels else quantised(float(sw)))
    y = net.conv(
        "y", net.inputs[0], wt, net.weight("b", b, "i32"), quantised(0.25, zeros[1]), pads, (stride,) * 2, groups
    )
    if relu:
        y = net.relu("r", y)
    factor = factors(0.25, sw, 0.25)
    expected = requantised(sums, factor[:, None, None] if channels else factor, zeros[1], relu)
    assert expected.std() > 10
    check(command, tmp_path, net.save(tmp_path, [y]), {"x": x}, expected)


@pytest.mark.parametrize("zeros,relu", [((0, 0), True), ((9, 4), True), ((-3, -20), False)], ids=str)
def test_scales_of_24_bits_per_channel(command, tmp_path, zeros, relu):
    """The fixpipe's buffer would cut them, and its relu is at 0: the vector cores requantise, as exactly."""
    m, k, n = 50, 96, 72
    rng = np.random.default_rng(24)
    w, x = bytes_of(rng, k, n, low=-127), bytes_of(rng, m, k)
    sums = (x.astype(np.int64) - zeros[0]) @ w.astype(np.int64)
    sw = (2.0**-7 * rng.uniform(0.3, 1, n) / np.sqrt(k)).astype(np.float32)
    net = Net([("x", (m, k), quantised(0.3, zeros[0]))])
    y = net.matmul("y", net.inputs[0], net.weight("w", w, quantised(sw, axis=1)), None, quantised(0.2, zeros[1]))
    if relu:
        y = net.relu("r", y)
    expected = requantised(sums, factors(0.3, sw, 0.2), zeros[1], relu)
    assert expected.std() > 10
    check(command, tmp_path, net.save(tmp_path, [y]), {"x": x}, expected)


@pytest.mark.parametrize("mode", ["F32", "F16"])
def test_between_real_numbers(command, tmp_path, mode):
    """Quantised, multiplied, requantised, dequantised: ONNX's definitions at both ends."""
    m, k, n = 33, 64, 20
    rng = np.random.default_rng(5)
    x = rng.standard_normal((m, k)).astype(np.float32)
    if mode == "F16":
        x = x.astype(np.float16).astype(np.float32)
    w = bytes_of(rng, k, n, low=-127)
    net = Net([("x", (m, k), "f32")])
    stored, result = quantised(0.02, 5), quantised(0.25, -7)
    q = net.op("quantize", "q", [net.inputs[0]], (m, k), stored, f"to = {stored}")
    y = net.matmul("p", q, net.weight("w", w, quantised(0.0078125)), None, result)
    y = net.op("dequantize", "y", [y], (m, n), "f32", "to = f32")
    numbers = np.clip(np.rint(x / np.float32(0.02)) + 5, -128, 127).astype(np.int64)
    kept = requantised((numbers - 5) @ w.astype(np.int64), factors(0.02, 0.0078125, 0.25), -7)
    expected = (kept.astype(np.float32) + 7) * np.float32(0.25)
    assert np.abs(numbers).max() == 128 and expected.std() > 1
    check(command, tmp_path, net.save(tmp_path, [y]), {"x": x}, expected, mode)


def test_movement(command, tmp_path):
    """Bytes move as they are; what pads is the zero point."""
    rng = np.random.default_rng(6)
    x = bytes_of(rng, 3, 5, 14)
    kind = quantised(0.5, -9)
    net = Net([("x", x.shape, kind)])
    y = net.op("permute", "t", [net.inputs[0]], (5, 3, 14), kind, "perm = array<i64: 1, 0, 2>")
    y = net.op("reshape", "f", [y], (15, 14), kind, "shape = array<i64: 15, 14>")
    y = net.op("pad", "p", [y], (18, 17), kind, "pads = array<i64: 1, 0, 2, 3>, value = 0.0 : f64")
    y = net.op(
        "slice",
        "s",
        [y],
        (9, 17),
        kind,
        "starts = array<i64: 0, 0>, ends = array<i64: 18, 17>, steps = array<i64: 2, 1>",
    )
    y = net.op("concat", "y", [y, y], (18, 17), kind, "axis = 0 : i64")
    expected = np.pad(x.transpose(1, 0, 2).reshape(15, 14), ((1, 2), (0, 3)), constant_values=-9)[::2]
    check(command, tmp_path, net.save(tmp_path, [y]), {"x": x}, np.concatenate([expected, expected]))


def test_chain_of_layers(command, tmp_path):
    """Two convolutions and a product; what is stored between them never leaves 8 bits."""
    rng = np.random.default_rng(8)
    x = bytes_of(rng, 1, 16, 10, 10)
    w0, w1, w2 = bytes_of(rng, 32, 16, 3, 3), bytes_of(rng, 64, 32, 3, 3), bytes_of(rng, 64 * 16, 10)
    net = Net([("x", x.shape, quantised(0.5, 4))])
    kinds = [quantised(0.5, -128), quantised(0.5, 0), quantised(1.0, 0)]
    scales = [2.0**-11, 2.0**-10, 2.0**-11]
    a = net.relu(
        "ar", net.conv("a", net.inputs[0], net.weight("w0", w0, quantised(scales[0])), None, kinds[0], (1, 1, 1, 1))
    )
    b = net.relu(
        "br", net.conv("b", a, net.weight("w1", w1, quantised(scales[1])), None, kinds[1], (0, 0, 0, 0), (2, 2))
    )
    flat = net.op("reshape", "flat", [b], (1, 64 * 16), kinds[1], f"shape = array<i64: 1, {64 * 16}>")
    y = net.matmul("y", flat, net.weight("w2", w2, quantised(scales[2])), None, kinds[2])
    first = requantised(convolved(x, w0, (1, 1, 1, 1), (1, 1), 1, 4), factors(0.5, scales[0], 0.5), -128, True)
    second = requantised(convolved(first, w1, (0, 0, 0, 0), (2, 2), 1, -128), factors(0.5, scales[1], 0.5), 0, True)
    sums = second.reshape(1, -1).astype(np.int64) @ w2.astype(np.int64)
    expected = requantised(sums, factors(0.5, scales[2], 1.0), 0)
    assert first.std() > 10 and second.std() > 5 and expected.std() > 5
    check(command, tmp_path, net.save(tmp_path, [y]), {"x": x}, expected)

"""Lowers the vector kernels of the given file with pto-opt and compares their results with numpy."""

import subprocess
import sys

import numpy as np
import vector_interpreter

random = np.random.default_rng(0)
text = subprocess.run(
    ["pto-opt", sys.argv[1], "--tile-vector-kernels", "--bufferize-vector-kernels", "--convert-linalg-to-pto"],
    check=True,
    capture_output=True,
    text=True,
).stdout
failures = 0


def data(*shape, dtype=np.float32):
    return random.standard_normal(shape).astype(dtype)


def check(name, inputs, expected, tolerance=0.0, dtype=None):
    """`expected`: one array per output."""
    global failures
    for cores in (1, 2, 5):
        outputs = [np.full(e.shape, np.nan, dtype or inputs[0].dtype) for e in expected]
        arrays = [np.ascontiguousarray(a).reshape(-1) for a in inputs] + [o.reshape(-1) for o in outputs]
        vector_interpreter.run(text, name, arrays, cores)
        error = max(np.abs(o.astype(np.float64) - e).max() for o, e in zip(outputs, expected))
        good = error <= tolerance
        failures += not good
        print("ok  " if good else "FAIL", name, "cores", cores, "error", error)


def window(x, kernel, stride, pads, reduce, init):
    """Applies `reduce(acc, pixels, kh, kw)` over the window; pads are top, left, bottom, right."""
    x = np.pad(x.astype(np.float64), ((0, 0), (pads[0], pads[2]), (pads[1], pads[3]), (0, 0)))
    rows = (x.shape[1] - kernel[0]) // stride[0] + 1
    cols = (x.shape[2] - kernel[1]) // stride[1] + 1
    acc = np.broadcast_to(init, (x.shape[0], rows, cols, x.shape[3]))
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            part = x[:, i : i + (rows - 1) * stride[0] + 1 : stride[0], j : j + (cols - 1) * stride[1] + 1 : stride[1]]
            acc = reduce(acc, part, i, j)
    return acc


half = np.float16
x = data(1, 24, 96, 8)
check("relu", [x], [np.maximum(x, 0)])
x, s = data(3, 7, 11, 8), data(3, 1, 1, 8)
check("squeeze_excite", [x, s], [x * np.clip(s * np.float32(0.2) + np.float32(0.5), 0, 1)])
x = data(50, 197)
e = np.exp(x - x.max(1, keepdims=True))
check("softmax", [x], [e / e.sum(1, keepdims=True)], 1e-6)
x = data(3, 20011)
e = np.exp(x - x.max(1, keepdims=True))
check("long_softmax", [x], [e / e.sum(1, keepdims=True, dtype=np.float64)], 1e-6)
x = data(1, 2)
check("softmax2", [x], [np.exp(x - x.max(1, keepdims=True))])
x, w, b = data(1, 6, 96, 104), data(5, 5, 104), data(104)
conv = lambda acc, part, i, j: acc + part * w[i, j]
check("depthwise", [x, w, b], [np.maximum(window(x, (5, 5), (2, 1), (2, 2, 2, 2), conv, b), 0)], 1e-4)
x, w, b = data(3, 13, 11, 17, dtype=half), data(3, 3, 17, dtype=half), data(17)
check("depthwise_f16", [x, w, b], [np.maximum(window(x, (3, 3), (2, 2), (0, 0, 2, 2), conv, b), 0)], 2e-2)
for name, shape, kernel, stride, pad in [
    ("depthwise_wide", (4, 1536, 16), 3, 1, 1),
    ("depthwise_ragged", (59, 61, 24), 3, 2, 1),
    ("depthwise_ragged_rows", (37, 64, 40), 5, 1, 2),
]:
    x, w = data(1, *shape), data(kernel, kernel, shape[-1])
    expected = window(
        x, (kernel, kernel), (stride, stride), (pad,) * 4, lambda acc, part, i, j: acc + part * w[i, j], 0.0
    )
    y = data(*expected.shape)
    check(name, [x, w, y], [expected + y], 1e-4)
x, s, w = data(2, 13, 20, 24), data(24), data(3, 3, 24)
conv = lambda acc, part, i, j: acc + part * w[i, j]
check("scaled_depthwise", [x, s, w], [window(x * s + 1, (3, 3), (2, 1), (1, 1, 1, 1), conv, 0.0)], 1e-4)
x, w = data(1, 9, 10, 32, dtype=half), data(2, 2, 32, dtype=half)
check(
    "clipped_depthwise_f16",
    [x, w],
    [window(np.clip(x, half(0), half(6)), (2, 2), (1, 1), (0, 0, 0, 0), conv, 0.0)],
    2e-2,
)
x = data(1, 29, 30, 16)
check(
    "max_pool_overlapping",
    [x],
    [
        window(
            np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=-np.inf),
            (3, 3),
            (2, 2),
            (0, 0, 0, 0),
            lambda acc, p, i, j: np.maximum(acc, p),
            -np.inf,
        )
    ],
)
x = data(1, 2, 96, 200)
check("max_pool", [x], [window(x, (2, 2), (2, 2), (0, 0, 0, 0), lambda acc, p, i, j: np.maximum(acc, p), -np.inf)])
x = data(1, 7, 9, 5)
check("average_pool", [x], [window(x, (3, 3), (1, 1), (1, 1, 1, 1), lambda acc, p, i, j: acc + p, 0.0) / 9], 1e-5)
x = data(1, 24, 96, 40)
check("global_average", [x], [x.sum((1, 2)) * 0.000434], 1e-5)
x = data(3, 5, 7, 13, dtype=half)
check("global_average_f16", [x], [x.astype(np.float64).mean((1, 2))], 1e-3)
x = data(1, 3, 48, 192)
check("to_channels_last", [x], [x.transpose(0, 2, 3, 1)])
check("to_channels_last_f16", [x], [x.transpose(0, 2, 3, 1).astype(half)], dtype=half)
x = data(2, 5, 7, 8)
check("slice", [x], [x[:, 1:5:2, 1:7, 2:5]])
x, y = data(2, 5, 8), data(2, 5, 3)
check("concat", [x, y], [np.concatenate([x, y], 2)])
x = data(2, 5, 3)
check("pad", [x], [np.pad(x, ((0, 0), (1, 2), (3, 1)), constant_values=2.5)])
x = data(1, 24, 96, 24, dtype=half)
c = np.clip(x + half(3), half(0), half(6))
check("hard_swish_stored", [x], [c, x * c / half(6)], 2e-3)
x = 3 * data(37, 101)
check("tanh", [x], [np.tanh(x)], 1e-5)
x, g = data(50, 197), data(197)
check("rms_norm", [x, g], [x / np.sqrt((x * x).mean(1, keepdims=True)) * g], 1e-5)
x = data(7, 13)
check("cast", [x], [x.astype(half)], dtype=half)
x, g = data(50, 197), data(50)
centred = x - x.mean(1, keepdims=True)
check("two_readers", [x, g], [centred * g[:, None], centred + 1], 1e-5)
x, k = data(19, 37), data(37)
check("masked", [x, k], [np.where((k > 0) | (x < 0), x, np.float32(-5))])
print("failures:", failures)

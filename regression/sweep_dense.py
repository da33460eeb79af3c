"""Families of random graphs whose indices follow from shapes: windows, products, reductions, transpositions."""

import numpy as np

from regression.sweep_case import Case, extent, shape_of


def window(rng, rank: int, most: int = 9):
    """Kernel, strides, dilations, pads; each small mostly and large at times."""
    large = rng.random() < 0.15
    kernel = [extent(rng, 40 if large and rank < 3 else most if rank < 3 else 4) for _ in range(rank)]
    if rank == 1 and rng.random() < 0.2:
        kernel = [int(rng.choice([256, 400, 512, 1023]))]
    strides = [int(rng.integers(1, 4)) if rng.random() < 0.7 else extent(rng, max(kernel) + 2) for _ in range(rank)]
    dilations = [1 if rng.random() < 0.7 else extent(rng, 12 if large else 4) for _ in range(rank)]
    return kernel, strides, dilations


def image(rng, kernel, dilations, budget: int) -> list[int]:
    """Spatial extents that hold the window, within a budget of pixels."""
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    most = max(2, int(budget ** (1 / len(kernel))))
    return [r + extent(rng, most) - 1 for r in reach]


def pads(rng, kernel, dilations):
    reach = [(k - 1) * d for k, d in zip(kernel, dilations)]
    if rng.random() < 0.4:
        return [0] * (2 * len(kernel))
    return [int(rng.integers(0, min(r, 8) + 1)) for r in reach * 2]


def conv(rng) -> Case:
    rank = int(rng.choice([1, 2, 2, 2, 3]))
    kernel, strides, dilations = window(rng, rank)
    group = int(rng.choice([1, 1, 1, 2, 3, 16]))
    depthwise = rng.random() < 0.2
    inner, outer = extent(rng, 48), extent(rng, 48)
    if depthwise:
        group, inner, outer = extent(rng, 96), 1, int(rng.choice([1, 1, 2]))
    volume = int(np.prod(kernel)) * inner
    shape = [
        int(rng.choice([1, 1, 2])),
        group * inner,
        *image(rng, kernel, dilations, max(4, 2_000_000 // volume // outer // group)),
    ]
    weights = {"w": rng.uniform(-1, 1, (group * outer, inner, *kernel)).astype(np.float32)}
    if rng.random() < 0.5:
        weights["b"] = rng.uniform(-1, 1, group * outer).astype(np.float32)
    attributes = {"strides": strides, "dilations": dilations, "pads": pads(rng, kernel, dilations), "group": group}
    if rng.random() < 0.1:  # a filter that another node computes
        return Case("Conv", {"x": shape, "w": list(weights.pop("w").shape)}, weights, attributes, ["x", "w", *weights])
    return Case("Conv", {"x": shape}, weights, attributes)


def conv_transpose(rng) -> Case:
    rank = int(rng.choice([1, 2, 2, 3]))
    kernel, strides, dilations = window(rng, rank, 5)
    strides = [min(s, 8) for s in strides]
    group = int(rng.choice([1, 1, 2, 3]))
    inner, outer = extent(rng, 24), extent(rng, 24)
    budget = max(2, 300_000 // (int(np.prod(kernel)) * inner * outer * group))
    shape = [1, group * inner, *(extent(rng, max(2, int(budget ** (1 / rank)))) for _ in range(rank))]
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    cut = [int(rng.integers(0, max(1, s // 2))) for s in span]
    whole = [(n - 1) * s + r for n, s, r in zip(shape[2:], strides, span)]
    begin = [c if w - 2 * c > 0 else 0 for c, w in zip(cut, whole)]
    attributes = {"strides": strides, "dilations": dilations, "pads": begin * 2, "group": group}
    if rng.random() < 0.3:
        attributes["output_padding"] = [int(rng.integers(0, max(s, d))) for s, d in zip(strides, dilations)]
    weights = {"w": rng.uniform(-1, 1, (group * inner, outer, *kernel)).astype(np.float32)}
    return Case("ConvTranspose", {"x": shape}, weights, attributes)


def pool(rng) -> Case:
    rank = int(rng.choice([1, 2, 2, 2, 3]))
    op = str(rng.choice(["MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool"]))
    kernel, strides, dilations = window(rng, rank, 16)
    if rank == 2 and rng.random() < 0.1:
        kernel = [int(rng.choice([64, 96, 100]))] * 2
    if op != "MaxPool":
        dilations = [1] * rank
    shape = [int(rng.choice([1, 2])), extent(rng, 96), *image(rng, kernel, dilations, 900)]
    if op.startswith("Global"):
        return Case(op, {"x": shape})
    attributes = {"kernel_shape": kernel, "strides": strides, "ceil_mode": int(rng.random() < 0.3)}
    attributes["pads"] = [min(p, k - 1) for p, k in zip(pads(rng, kernel, dilations), kernel * 2)]
    if op == "MaxPool":
        attributes["dilations"] = dilations
    if op == "AveragePool":
        attributes["count_include_pad"] = int(rng.random() < 0.5)
    if op == "LpPool":
        attributes["ceil_mode"] = 0
    return Case(op, {"x": shape}, {}, attributes)


def matmul(rng) -> Case:
    m, n, k = (extent(rng, 600) for _ in range(3))
    form = rng.integers(0, 5)
    if form == 0:
        flags = {"transA": int(rng.random() < 0.5), "transB": int(rng.random() < 0.5)}
        scale = {"alpha": 0.5, "beta": 2.0} if rng.random() < 0.3 else {}
        a, b = [k, m] if flags["transA"] else [m, k], [n, k] if flags["transB"] else [k, n]
        bias = [[n], [1, n], [m, 1], [m, n], [1]][rng.integers(0, 5)]
        weights = {"b": rng.uniform(-1, 1, b).astype(np.float32), "c": rng.uniform(-1, 1, bias).astype(np.float32)}
        return Case("Gemm", {"a": a}, weights, flags | scale)
    lead = [extent(rng, 5) for _ in range(rng.integers(0, 4))]
    m, n, k = (max(1, v // (2 if lead else 1)) for v in (m, n, k))
    left = [1 if rng.random() < 0.2 else v for v in lead] + [m, k]
    right = ([] if rng.random() < 0.4 else [1 if rng.random() < 0.2 else v for v in lead]) + [k, n]
    if form == 1:
        left = [k]
    if form == 2 and len(right) == 2:
        right = [k]
    if rng.random() < 0.5:
        return Case("MatMul", {"a": left}, {"b": rng.uniform(-1, 1, right).astype(np.float32)})
    return Case("MatMul", {"a": left, "b": right})


def reduction(rng) -> Case:
    op = str(rng.choice(["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"]))
    shape = shape_of(rng, [1, 2, 3, 4, 5])
    axes = rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)]
    sign = [int(a) - (len(shape) if rng.random() < 0.3 else 0) for a in axes]
    attributes = {"keepdims": int(rng.random() < 0.5)}
    return Case(f"Reduce{op}", {"x": shape}, {"axes": np.array(sign, np.int64)}, attributes)


def softmax(rng) -> Case:
    op = str(rng.choice(["Softmax", "LogSoftmax", "LayerNormalization", "InstanceNormalization"]))
    shape = shape_of(rng, [2, 3, 4])
    if op == "LayerNormalization":
        axis = int(rng.integers(1, len(shape)))
        weights = {name: rng.uniform(-1, 1, shape[axis:]).astype(np.float32) for name in "sb"}
        return Case(op, {"x": shape}, weights, {"axis": axis})
    if op == "InstanceNormalization":
        shape = shape_of(rng, [3, 4])
        weights = {name: rng.uniform(-1, 1, shape[1]).astype(np.float32) for name in "sb"}
        return Case(op, {"x": shape}, weights)
    return Case(op, {"x": shape}, {}, {"axis": int(rng.integers(-len(shape), len(shape)))})


def transposition(rng) -> Case:
    shape = shape_of(rng, [2, 3, 3, 4, 5, 6])
    return Case("Transpose", {"x": shape}, {}, {"perm": [int(p) for p in rng.permutation(len(shape))]})

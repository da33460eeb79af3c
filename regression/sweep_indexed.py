"""Families of random graphs that move, choose or compare elements."""

import numpy as np

from regression.sweep_case import Case, data, extent, shape_of

UNARY = ["Floor", "Ceil", "Round", "Sign", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Asinh", "Atanh", "Hardmax"]


def gather(rng) -> Case:
    shape = shape_of(rng, [1, 2, 3, 4])
    axis = int(rng.integers(0, len(shape)))
    count = [extent(rng, 40) for _ in range(rng.integers(0, 3))]
    index = rng.integers(-shape[axis], shape[axis], count)
    op = str(rng.choice(["Gather", "Gather", "GatherElements", "GatherND"]))
    if op == "GatherElements":
        index = rng.integers(-shape[axis], shape[axis], [max(1, n - int(rng.integers(0, 2))) for n in shape])
    if op == "GatherND":
        depth = int(rng.integers(1, len(shape) + 1))
        index = np.stack([rng.integers(0, shape[i], count) for i in range(depth)], -1)
        return Case(op, {"x": shape}, {"i": index.astype(np.int64)})
    return Case(op, {"x": shape}, {"i": np.asarray(index, np.int64)}, {"axis": axis})


def scatter(rng) -> Case:
    shape = shape_of(rng, [1, 2, 3], 20_000)
    op = str(rng.choice(["ScatterElements", "ScatterND"]))
    reduction = str(rng.choice(["none", "add", "mul", "max", "min"]))
    attributes = {"reduction": reduction}
    if op == "ScatterND":
        depth = int(rng.integers(1, len(shape) + 1))
        rows = min(extent(rng, 20), int(np.prod(shape[:depth])))
        flat = rng.permutation(int(np.prod(shape[:depth])))[:rows]
        index = np.stack(np.unravel_index(flat, shape[:depth]), -1)
        updates = rng.uniform(-1, 1, [rows, *shape[depth:]])
        weights = {"i": index.astype(np.int64), "u": updates.astype(np.float32)}
        return Case(op, {"x": shape}, weights, attributes)
    axis = int(rng.integers(0, len(shape)))
    count = extent(rng, shape[axis])
    dims = [count if d == axis else n for d, n in enumerate(shape)]
    index = np.argsort(rng.random(shape), axis)
    index = np.take(index, np.arange(count), axis)
    weights = {"i": index.astype(np.int64), "u": rng.uniform(-1, 1, dims).astype(np.float32)}
    return Case(op, {"x": shape}, weights, attributes | {"axis": axis})


def movement(rng) -> Case:
    op = str(
        rng.choice(
            ["Slice", "Pad", "Tile", "Expand", "Concat", "Split", "Resize", "DepthToSpace", "SpaceToDepth", "CumSum"]
        )
    )
    shape = shape_of(rng, [2, 3, 4], 20_000)
    axis = int(rng.integers(0, len(shape)))
    if op == "Slice":
        step = int(rng.choice([1, 1, 2, 3, -1, -2]))
        a, b = sorted(int(v) for v in rng.integers(0, shape[axis], 2))
        begin, end = (a, max(a + 1, b)) if step > 0 else (max(a, b - 1), a - 1 if a else -shape[axis] - 1)
        values = {"starts": begin, "ends": end, "axes": axis, "steps": step}
        return Case(op, {"x": shape}, {k: np.array([v], np.int64) for k, v in values.items()})
    if op == "Pad":
        mode = str(rng.choice(["constant", "reflect", "edge", "wrap"]))
        amounts = [int(rng.integers(0, (min(n, 12) if mode in ("reflect", "wrap") else 12) or 1)) for n in shape * 2]
        return Case(op, {"x": shape}, {"p": np.array(amounts, np.int64)}, {"mode": mode}, opset=19)
    if op == "Tile":
        return Case(op, {"x": shape}, {"r": rng.integers(1, 4, len(shape)).astype(np.int64)})
    if op == "Expand":
        small = [1 if rng.random() < 0.5 else n for n in shape]
        return Case(op, {"x": small}, {"s": np.array(shape, np.int64)})
    if op == "Concat":
        other = [extent(rng, 40) if d == axis else n for d, n in enumerate(shape)]
        return Case(op, {"x": shape, "z": other}, {}, {"axis": axis})
    if op == "Split":
        whole = [n * 3 if d == axis else n for d, n in enumerate(shape)]
        return Case(op, {"x": whole}, {}, {"axis": axis, "num_outputs": 3})
    if op == "Resize":
        scales = [1.0, 1.0] + [float(rng.choice([0.5, 2, 1.5, 3, 0.7])) for _ in range(2)]
        shape = [1, extent(rng, 32), extent(rng, 30) + 3, extent(rng, 30) + 3]
        mode = str(rng.choice(["nearest", "linear", "cubic"]))
        return Case(op, {"x": shape}, {"r": np.zeros(0, np.float32), "s": np.array(scales, np.float32)}, {"mode": mode})
    if op == "CumSum":
        flags = {"exclusive": int(rng.random() < 0.3), "reverse": int(rng.random() < 0.3)}
        return Case(op, {"x": shape}, {"axis": np.array(axis, np.int64)}, flags)
    block = int(rng.choice([2, 3]))
    c, h, w = extent(rng, 16), extent(rng, 20), extent(rng, 20)
    shape = [1, c * block * block, h, w] if op == "DepthToSpace" else [1, c, h * block, w * block]
    return Case(op, {"x": shape}, {}, {"blocksize": block})


def selection(rng) -> Case:
    op = str(rng.choice(["ArgMax", "ArgMin"]))
    shape = shape_of(rng, [1, 2, 3, 4])
    attributes = {"axis": int(rng.integers(0, len(shape))), "keepdims": int(rng.random() < 0.5)}
    return Case(op, {"x": shape}, {}, attributes)


def elementwise(rng) -> Case:
    op = str(rng.choice(["Add", "Sub", "Mul", "Div", "Max", "Pow", "Where", "PRelu", "Equal", "Less", *UNARY]))
    shape = shape_of(rng, [1, 2, 3, 4, 5])
    other = [1 if rng.random() < 0.35 else n for n in shape][int(rng.integers(0, len(shape))) :]
    inputs = {"x": shape, "z": other}
    if op in UNARY:
        return Case(op, {"x": shape})
    if op == "PRelu":
        return Case(op, {"x": shape}, {"s": rng.uniform(-1, 1, other).astype(np.float32)})
    if op == "Where":
        return Case(op, inputs, {"c": rng.random(shape) < 0.5}, {}, ["c", "x", "z"])
    return Case(op, inputs)


def topk(rng) -> Case:
    shape = shape_of(rng, [1, 2, 3, 4], 9000)
    if rng.random() < 0.2:
        shape = [int(rng.integers(1, 4)), int(rng.integers(2049, 20_000))]
    axis = int(rng.integers(-len(shape), len(shape)))
    k = int(rng.choice([1, min(5, shape[axis]), extent(rng, min(shape[axis], 4096))]))
    x = data(rng, shape, ("float32", "float32", "float32", "int32", "int64") if shape[axis] <= 4096 else ("float32",))
    attributes = {"axis": axis, "largest": int(rng.random() < 0.6), "sorted": 1}
    return Case("TopK", {}, {"k": np.array([k], np.int64)}, attributes, feeds={"x": x}, outputs=2)


def computed_gather(rng) -> Case:
    shape = shape_of(rng, [1, 2, 3, 4], 20_000)
    axis = int(rng.integers(0, len(shape)))
    kind = str(rng.choice(["int32", "int64"]))
    op = str(rng.choice(["Gather", "GatherElements", "GatherElements", "GatherND"]))
    if op == "GatherND":
        depth = int(rng.integers(1, len(shape) + 1))
        count = [extent(rng, 20) for _ in range(rng.integers(0, 3))]
        index = np.stack([rng.integers(-shape[i], shape[i], count) for i in range(depth)], -1)
        return Case(op, {}, {}, feeds={"x": data(rng, shape), "i": index.astype(np.int64)})
    count = [extent(rng, 30) for _ in range(rng.integers(0, 3))]
    if op == "GatherElements":
        count = [extent(rng, 60) if d == axis else max(1, n - int(rng.integers(0, 2))) for d, n in enumerate(shape)]
    index = rng.integers(-shape[axis], shape[axis], count)
    return Case(op, {}, {}, {"axis": axis}, feeds={"x": data(rng, shape), "i": np.asarray(index).astype(kind)})


def computed_scatter(rng) -> Case:
    shape = shape_of(rng, [1, 2, 3], 6000)
    op = str(rng.choice(["ScatterElements", "ScatterND"]))
    attributes = {"reduction": str(rng.choice(["none", "add", "mul", "max", "min"]))}
    x = data(rng, shape, ("float32", "float32", "int32"))
    if x.dtype != np.float32:
        x = np.clip(x, -9, 9)
    update = lambda dims: (np.round(rng.uniform(-2, 2, dims) * 8) / 8).astype(x.dtype)
    if op == "ScatterND":
        depth = int(rng.integers(1, len(shape) + 1))
        count = [extent(rng, 12) for _ in range(rng.integers(1, 3))]
        index = np.stack([rng.integers(-shape[i], shape[i], count) for i in range(depth)], -1)
        return Case(op, {}, {}, attributes, feeds={"x": x, "i": index, "u": update([*count, *shape[depth:]])})
    axis = int(rng.integers(0, len(shape)))
    dims = [extent(rng, 12) if d == axis else max(1, n - int(rng.integers(0, 2))) for d, n in enumerate(shape)]
    index = rng.integers(-shape[axis], shape[axis], dims)
    return Case(op, {}, {}, attributes | {"axis": axis}, feeds={"x": x, "i": index, "u": update(dims)})


def _off_middles(points: np.ndarray, sizes: np.ndarray, align_corners: int) -> np.ndarray:
    """Coordinates of a grid (x, y) that stay a tenth of a pixel off the middles between pixels, where nearest is
    undecided and the rounding of a 16-bit grid decides."""
    scale = np.maximum(sizes - 1, 1) / 2 if align_corners else sizes / 2
    pixels = (points + 1) * scale - (0 if align_corners else 0.5)
    kept = np.rint(pixels) + np.clip(pixels - np.rint(pixels), -0.4, 0.4)
    return (kept + (0 if align_corners else 0.5)) / scale - 1


def composed(rng) -> Case:
    op = str(rng.choice(["GridSample", "ReverseSequence", "CenterCropPad", "Col2Im", "CumSum"]))
    if op == "GridSample":
        shape = [extent(rng, 3), extent(rng, 20), extent(rng, 30), extent(rng, 30)]
        grid = [shape[0], extent(rng, 20), extent(rng, 20), 2]
        attributes = {
            "mode": str(rng.choice(["linear", "nearest", "cubic"])),
            "padding_mode": str(rng.choice(["zeros", "border", "reflection"])),
            "align_corners": int(rng.random() < 0.5),
        }
        points = rng.uniform(-1.4, 1.4, grid)
        if attributes["mode"] == "nearest":
            points = _off_middles(points, np.array([shape[3], shape[2]]), attributes["align_corners"])
        points = points.astype(np.float32)
        return Case(op, {}, {}, attributes, opset=20, feeds={"x": data(rng, shape, ("float32",)), "g": points})
    if op == "ReverseSequence":
        shape = [extent(rng, 40), extent(rng, 40), *shape_of(rng, [1, 2], 60)]
        time = int(rng.integers(0, 2))
        lengths = rng.integers(1, shape[time] + 1, shape[1 - time])
        attributes = {"time_axis": time, "batch_axis": 1 - time}
        return Case(op, {}, {}, attributes, feeds={"x": data(rng, shape, ("float32",)), "l": lengths})
    if op == "CenterCropPad":
        shape = shape_of(rng, [1, 2, 3, 4], 9000)
        wanted = np.array([max(1, n + int(rng.integers(-5, 6))) for n in shape], np.int64)
        return Case(op, {"x": shape}, {"s": wanted})
    if op == "Col2Im":
        image, block = [extent(rng, 20) + 4 for _ in range(2)], [int(v) for v in rng.integers(1, 5, 2)]
        strides, channels = [int(v) for v in rng.integers(1, 4, 2)], extent(rng, 12)
        count = int(np.prod([(n - b) // s + 1 for n, b, s in zip(image, block, strides)]))
        lists = {"i": np.array(image, np.int64), "b": np.array(block, np.int64)}
        return Case(op, {"x": [1, channels * int(np.prod(block)), count]}, lists, {"strides": strides})
    shape = shape_of(rng, [1, 2, 3], 20_000)
    x = data(rng, shape, ("float32", "int32"))
    flags = {"exclusive": int(rng.random() < 0.3), "reverse": int(rng.random() < 0.3)}
    axis = np.array(rng.integers(0, len(shape)), np.int64)
    return Case(op, {}, {"axis": axis}, flags, feeds={"x": np.clip(x, -9, 9)})

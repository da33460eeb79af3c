"""Random graphs of one operator, each converted, run on the simulator and compared with onnxruntime.

    python -m regression.sweep [--count 300] [--seed 1] [--families conv,pool] [--processors a3,a5] [--num_core 1,24]

Every graph draws its operator's attributes and extents from what real models and awkward ones have: primes, extents of
1, long rows, large kernels, strides above kernels, groups, dilations, uneven pads. Prints one line per graph that was
refused, went wrong, could not be run, or took more than three times its bound (bounds.py) without a remark of the
compiler, and the counts; exits 1 when there is one.
"""

import argparse
import collections
import contextlib
import json
import multiprocessing
import multiprocessing.pool
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

GOOD = ("right", "invalid")  # invalid: onnxruntime refuses the graph
TOLERANCE = {"F32": 3e-5, "F16": 4e-3, "BF16": 4e-2}


@dataclass
class Case:
    """One operator with its inputs (name -> shape), weights and attributes."""

    op: str
    inputs: dict[str, list[int]]
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    attributes: dict = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    opset: int = 18
    feeds: dict[str, np.ndarray] = field(default_factory=dict)  # inputs whose values matter
    outputs: int = 1

    def text(self) -> str:
        shapes = {name: list(value.shape) for name, value in (self.feeds | self.weights).items()}
        return f"{self.op} {self.inputs | shapes} {self.attributes}"


def extent(rng, most: int) -> int:
    """1, a small number, a prime, a power of two or anything up to `most`."""
    primes = [p for p in (2, 3, 5, 7, 11, 13, 17, 31, 37, 61, 97, 127, 251, 509, 1021) if p <= most]
    powers = [1 << k for k in range(11) if 1 << k <= most]
    choices = [1, int(rng.integers(1, min(most, 9) + 1)), int(rng.choice(primes or [1])), int(rng.choice(powers))]
    return int(rng.choice([*choices, int(rng.integers(1, most + 1))]))


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


def shape_of(rng, ranks, budget: int = 60_000) -> list[int]:
    shape: list[int] = []
    for _ in range(rng.choice(ranks)):
        shape.append(extent(rng, max(1, min(1100, budget // int(np.prod(shape or [1]))))))
    return [int(v) for v in rng.permutation(shape)]


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


def data(rng, shape, kinds=("float32", "float32", "int32", "int64")) -> np.ndarray:
    """Values of one of the types, with ties."""
    kind = str(rng.choice(kinds))
    if kind == "float32":
        return (np.round(rng.normal(0, 8, shape) * 64) / 64).astype(np.float16).astype(kind)
    return (
        rng.integers(-(2**30), 2**30, shape).astype(kind)
        if rng.random() < 0.5
        else rng.integers(-9, 9, shape).astype(kind)
    )


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
        # Off the middles between pixels, where nearest is undecided.
        points = (rng.uniform(-1.4, 1.4, grid) + 1e-3).astype(np.float32)
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


UNARY = ["Floor", "Ceil", "Round", "Sign", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Asinh", "Atanh", "Hardmax"]
FAMILIES = {
    "conv": conv,
    "conv_transpose": conv_transpose,
    "pool": pool,
    "matmul": matmul,
    "reduction": reduction,
    "softmax": softmax,
    "transposition": transposition,
    "gather": gather,
    "scatter": scatter,
    "movement": movement,
    "selection": selection,
    "elementwise": elementwise,
    "topk": topk,
    "computed_gather": computed_gather,
    "computed_scatter": computed_scatter,
    "composed": composed,
}


def save(case: Case, path: Path) -> dict[str, np.ndarray]:
    """Writes the graph and returns its feed."""
    count = case.attributes.get("num_outputs", case.outputs)
    names = case.order or [*case.inputs, *case.feeds, *case.weights]
    node = helper.make_node(case.op, names, [f"y{i}" for i in range(count)], name="n", **case.attributes)
    boolean = case.op in ("Equal", "Less")
    kind = TensorProto.BOOL if boolean else TensorProto.INT64 if case.op.startswith("Arg") else TensorProto.FLOAT
    kinds = [kind] * count
    given = {n: helper.np_dtype_to_tensor_dtype(v.dtype) for n, v in case.feeds.items()}
    if case.op == "TopK":
        kinds = [given["x"], TensorProto.INT64]
    elif "x" in given:
        kinds = [given["x"]]
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in case.inputs.items()]
        + [helper.make_tensor_value_info(n, t, case.feeds[n].shape) for n, t in given.items()],
        [helper.make_tensor_value_info(o, k, None) for o, k in zip(node.output, kinds)],
        [numpy_helper.from_array(v, n) for n, v in case.weights.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=9), path)
    rng = np.random.default_rng(7)
    low = 0.1 if case.op in ("Pow", "ReduceLogSum", "Div") else -1.0
    # Values that float16 holds: a difference of nearly equal inputs has no error from rounding them.
    feed = {n: rng.uniform(low, 1, s).astype(np.float16).astype(np.float32) for n, s in case.inputs.items()}
    if boolean:
        feed = {n: np.round(v * 2) for n, v in feed.items()}
    return feed | case.feeds


def draw(family: str, number: int, seed: int) -> Case:
    return FAMILIES[family](np.random.default_rng([seed, number, *family.encode()]))


def attempt(task) -> dict:
    """Converts and runs one case; what came of it."""
    family, number, seed, mode, processor, cores = task
    case = draw(family, number, seed)
    row = {
        "family": family,
        "number": number,
        "text": case.text(),
        "mode": mode,
        "processor": processor,
        "cores": cores,
    }
    return row | check(case, mode, processor, cores)


def check(case: Case, mode: str, processor: str, cores: int) -> dict:
    """The numbers of a case beside onnxruntime's, and its time in timing mode beside its bound."""
    from pto_mlir import compiler
    from pto_mlir.reference import run_onnx
    from pto_mlir.runtime import InferenceSession

    from . import bounds

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        feed = save(case, folder / "m.onnx")
        try:
            expected = run_onnx(folder / "m.onnx", feed)
        except Exception as error:  # the graph itself is not valid
            return {"result": "invalid", "reason": str(error).splitlines()[0][-200:]}
        begin = time.time()
        try:
            compiler.transform(str(folder / "m.onnx"), "m", [], [], str(folder / "m.mlir"), "")
            files = str(folder / "m.mlir"), str(folder / "m.pmodel")
            info = compiler.deploy(*files, mode, processor, cores, False, cost_remarks=True)
            session = InferenceSession(str(folder / "m.pmodel"), mode="timing")
            values = dict(zip([o.name for o in session.get_outputs()], session.run(None, feed)))
        except Exception as error:
            return {"result": "refused", "reason": str(error).replace(str(folder), "").splitlines()[0][:300]}
    row = {"seconds": time.time() - begin, "remarks": len(info.get("remarks", []))}
    row["host"] = len(info.get("host_ops", []))
    row["bound"] = bounds.least(case, feed, expected, mode, processor, cores)
    row["took"] = bounds.seconds(session.profile(), processor)
    row["launches"] = session.profile()["launches"]
    row["error"], reason = compare(case, values, expected, mode)
    # A grid of coordinates is rounded to the storage type, too.
    bound = 0.03 if case.op == "GridSample" and mode != "F32" else TOLERANCE[mode]
    if reason or row["error"] > bound:
        return row | {"result": "wrong", "reason": reason or f"error {row['error']:.2g}"}
    if row["took"] > bounds.MOST * row["bound"] and not row["remarks"] and not row["host"]:
        text = f"{row['took'] * 1e6:.1f} us in {row['launches']} launches, bound {row['bound'] * 1e6:.1f}, no remark"
        return row | {"result": "costly", "reason": text}
    return row | {"result": "right"}


def compare(case: Case, values: dict, expected: dict, mode: str) -> tuple[float, str]:
    """The greatest error beside the greatest value, 1 or more where something exact differs; and what else is wrong."""
    worst = 0.0
    for key, value in values.items():
        want = expected[key]
        if value.shape != want.shape:
            return worst, f"{key}: shape {value.shape}, not {want.shape}"
        places = case.op.startswith("Arg") or (case.op == "TopK" and key == "y1")
        exact = want.dtype == bool or (case.feeds and want.dtype.kind == "i" and not places)
        if exact or (places and mode == "F32"):
            worst = max(worst, float(np.any(value != want)))
        elif not places and want.size:
            differs = value != want  # infinities that agree have no difference
            scale = max(1.0, float(np.max(np.abs(want), where=np.isfinite(want), initial=0.0)))
            error = np.max(np.abs(value[differs].astype(float) - want[differs].astype(float)), initial=0) / scale
            worst = max(worst, float("inf") if np.isnan(error) else float(error))
    return worst, ""


def _send(sender, task) -> None:
    sender.send(attempt(task))


def guarded(task) -> dict:
    """attempt() in a process of its own, since a crash must not end the sweep."""
    # A server without threads forks: a fork of this process could inherit a lock that another thread holds.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    receiver, sender = context.Pipe(False)
    process = context.Process(target=_send, args=(sender, task))
    process.start()
    sender.close()
    row = dict(zip(("family", "number"), task), text=f"{draw(*task[:3]).text()} {task[3:]}")
    try:
        if receiver.poll(120):
            return receiver.recv()
        process.kill()
        return row | {"result": "slow", "reason": "ran for more than 120 s"}
    except EOFError:
        process.join()
        return row | {"result": "crashed", "reason": f"exit code {process.exitcode}"}
    finally:
        process.join()


def tasks(families, count, seed, modes=("F32", "F16"), processors=("a3", "a5"), num_core=(1, 24)) -> list[tuple]:
    """What guarded() takes: the families in turn, the rest drawn."""
    rng = np.random.default_rng(seed)
    return [
        (
            families[i % len(families)],
            i,
            seed,
            *(str(rng.choice(v)) for v in (modes, processors)),
            int(rng.choice(num_core)),
        )
        for i in range(count)
    ]


def sweep(work, log=None) -> collections.Counter:
    counts: collections.Counter = collections.Counter()
    with multiprocessing.pool.ThreadPool(2) as pool:
        for row in pool.imap_unordered(guarded, work):
            counts[row["result"]] += 1
            if log:
                log.write(json.dumps(row) + "\n")
                log.flush()
            if row["result"] not in GOOD:
                print(f"{row['result']}: {row['text']}: {row['reason']}", flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300, help="graphs in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--families", default=",".join(FAMILIES), help="of " + ", ".join(FAMILIES))
    parser.add_argument("--modes", default="F32,F16")
    parser.add_argument("--processors", default="a3,a5")
    parser.add_argument("--num_core", default="1,24")
    parser.add_argument("--log", type=Path, help="one JSON line per graph")
    options = parser.parse_args()
    families = options.families.split(",")
    modes, processors, cores = (v.split(",") for v in (options.modes, options.processors, options.num_core))
    work = tasks(families, options.count, options.seed, modes, processors, [int(n) for n in cores])
    with options.log.open("w") if options.log else contextlib.nullcontext() as log:
        counts = sweep(work, log)
    print(", ".join(f"{count} {result}" for result, count in counts.most_common()))
    return int(any(result not in GOOD for result in counts))


if __name__ == "__main__":
    sys.exit(main())

"""What a graph of one operator takes at least, by the rates of the cost library, and what its kernels took."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from pto_mlir import compiler

#: Times the bound that a graph may take without a remark of the compiler that says where it is slow.
MOST = 3.0

# Operators whose outputs are elements of their data, which need not be read as a whole.
PICKING = {"Gather", "GatherElements", "GatherND", "Slice", "CenterCropPad", "Resize"}

LINE = 512  # bytes that come from HBM together

# Vector operations per element of the larger of input and output; of functions, those of the documented expansions.
OPERATIONS = {
    **dict.fromkeys(("Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Asinh", "Atanh", "Pow"), 24),
    **dict.fromkeys(("Softmax", "LogSoftmax", "LayerNormalization", "InstanceNormalization", "Hardmax"), 6),
    **dict.fromkeys(("ReduceLogSumExp", "ReduceLogSum", "ReduceProd"), 4),
    **dict.fromkeys(("ArgMax", "ArgMin"), 3),
    "GridSample": 40,
    "TopK": 12,
}


def _steps(rows: int, depth: int, columns: int, element: int) -> int:
    """Multiplications of the whole boxes of 16 rows x 32 bytes x 16 columns that a product takes."""
    return math.prod(-(-extent // box) * box for extent, box in ((rows, 16), (depth, 32 // element), (columns, 16)))


def product(op: str, left: tuple, right: tuple, out: tuple, element: int) -> int:
    columns = out[-1] if len(right) > 1 else 1
    rows = math.prod(out) // columns
    depth = right[0] if len(right) == 1 else right[-2]
    if op == "Gemm":
        depth = math.prod(right) // columns
    batch = math.prod(right[:-2]) if op == "MatMul" and len(right) > 2 else 1
    return batch * _steps(-(-rows // batch), depth, columns, element)


def convolution(op: str, image: tuple, filters: tuple, out: tuple, group: int, element: int) -> int:
    taps = math.prod(filters[2:])
    if op == "Conv":
        pixels, depth, columns = math.prod(out[2:]) * out[0], filters[1], filters[0] // group
    else:
        pixels, depth, columns = math.prod(image[2:]) * image[0], filters[0] // group, filters[1]
    channels = 32 // element
    return group * _steps(pixels, taps * -(-depth // channels) * channels, columns, element)


def _picked(case, shapes: Mapping[str, tuple], outputs: Mapping[str, np.ndarray]) -> int:
    """Bytes of the lines in which the rows lie that are read one by one."""
    out = next(iter(outputs.values()))
    data, indices = (list(shapes.values()) + [()])[:2]
    row = out.shape[-1] if out.ndim else 1
    if case.op == "Gather":
        row = math.prod(data[case.attributes["axis"] + 1 :])
    if case.op == "GatherElements":
        row = 1
    if case.op == "GatherND":
        row = math.prod(data[indices[-1] :])
    return out.size // max(row, 1) * -(-4 * row // LINE) * LINE


def work(case, feed: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray], mode: str) -> dict:
    """Arguments of `compiler.lower_bound`. Elements have 4 bytes at the interface, weights those of the mode."""
    element = 4 if mode == "F32" else 2
    shapes = {name: value.shape for name, value in ({**feed, **case.weights}).items()}
    order = case.order or [*case.inputs, *case.feeds, *case.weights]
    written = 4 * sum(value.size for value in outputs.values())
    data = {name: 4 * value.size for name, value in feed.items()}
    held = {name: (element if value.dtype.kind == "f" else 4) * value.size for name, value in case.weights.items()}
    read = sum(data.values()) + sum(held.values())
    if case.op in PICKING:
        whole = data[order[0]]
        read -= whole - min(whole, _picked(case, shapes, outputs))
    most = max([written, *data.values()]) / 4
    done = {"bytes_read": read, "bytes_written": written, "operations": OPERATIONS.get(case.op, 1) * most}
    out = next(iter(outputs.values())).shape
    if case.op in ("Conv", "ConvTranspose"):
        image, filters, group = shapes[order[0]], shapes[order[1]], case.attributes["group"]
        cube = convolution(case.op, image, filters, out, group, element)
        # Few channels of a group are cheaper on the vector cores: a product and a sum for each.
        vector = 2 * math.prod(filters[1:]) * math.prod(out if case.op == "Conv" else image)
        bound = {"multiplications": cube, "wide": mode == "F32", "operations": 0}
        done |= bound if filters[1] > 1 or group == 1 else {"operations": vector}
    elif case.op in ("MatMul", "Gemm"):
        left, right = shapes[order[0]], shapes[order[1]]
        done |= {"multiplications": product(case.op, left, right, out, element), "wide": mode == "F32"}
        done["operations"] = 0
    elif "kernel_shape" in case.attributes:
        done["operations"] = math.prod(case.attributes["kernel_shape"]) * math.prod(out)
    return done


def least(case, feed, outputs, mode: str, processor: str, cores: int) -> float:
    """Seconds; each part of a split is a tensor, and a launch, of its own."""
    others = len(outputs) - 1 if case.op == "Split" else 0
    bound = compiler.lower_bound(processor, cores, **work(case, feed, outputs, mode))
    return bound + others * compiler.launch_seconds(processor)[1]


def seconds(profile: Mapping, processor: str) -> float:
    """What a run in timing mode took, when its launches are tasks one after the other."""
    if "seconds" not in profile:  # nothing was launched
        return 0.0
    alone, task = compiler.launch_seconds(processor)
    return profile["seconds"] - profile["launches"] * (alone - task)

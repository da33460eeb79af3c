"""Operators that choose, count, order and scatter elements."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from .draw import Draw
from .exact import Unusable
from .model import numpy_type
from .recipes_shape import axis_of

I64 = TensorProto.INT64


def _indices(d: Draw, size: int, shape, signed: bool = True) -> str:
    if not size and int(np.prod(shape)):
        raise Unusable("nothing to choose from")
    kind = d.one([TensorProto.INT64, TensorProto.INT64, TensorProto.INT32])
    index = d.rng.integers(-size if signed else 0, max(1, size), shape)
    return d.put(np.asarray(index).astype(numpy_type(kind)), kind, d.chance(0.5))


def gather(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Gather"), 1, 4)
    axis = axis_of(d, len(d.shape_of(x)))
    return d.add("Gather", [x, _indices(d, d.shape_of(x)[axis], d.shape(d.rank(0, 2), 9))], axis=axis)


def gather_elements(d: Draw) -> list[str]:
    x = d.pick(d.kinds("GatherElements"), 1)
    axis = axis_of(d, len(d.shape_of(x)))
    shape = [n if not n or d.chance(0.6) else int(d.rng.integers(1, n + 1)) for n in d.shape_of(x)]
    return d.add("GatherElements", [x, _indices(d, d.shape_of(x)[axis], shape)], axis=axis)


def _places(d: Draw, shape, depth: int, count) -> str:
    if 0 in shape[:depth]:
        raise Unusable("nothing to choose from")
    index = np.stack([d.rng.integers(-shape[i], shape[i], count) for i in range(depth)], -1)
    return d.put(index.astype(np.int64), I64, d.chance(0.5))


def gather_nd(d: Draw) -> list[str]:
    x = d.pick(d.kinds("GatherND"), 1, 5)
    shape = d.shape_of(x)
    batch = int(d.rng.integers(0, len(shape))) if d.chance(0.3) else 0
    depth = int(d.rng.integers(1, len(shape) - batch + 1))
    count = [*shape[:batch], *d.shape(int(d.rng.integers(0 if not batch else 1, 3)), 12)]
    return d.add("GatherND", [x, _places(d, shape[batch:], depth, count)], batch_dims=batch)


def _reduction(d: Draw, kind: int) -> dict:
    choices = ["none", "none", "add", "mul", "max", "min"]
    return {"reduction": "none" if kind == TensorProto.BOOL else d.one(choices)}


def scatter_elements(d: Draw, op: str = "ScatterElements") -> list[str]:
    x = d.pick(d.kinds(op), 1, 4)
    shape = d.shape_of(x)
    axis = axis_of(d, len(shape))
    if 0 in shape:
        raise Unusable("nothing to choose from")
    places = np.take(np.argsort(d.rng.random(shape), axis), range(d.one([1, shape[axis]])), axis)
    index = d.put(places.astype(np.int64), I64, d.chance(0.5))
    return d.add(op, [x, index, d.new(d.kind_of(x), places.shape)], axis=axis, **_reduction(d, d.kind_of(x)))


def scatter_nd(d: Draw) -> list[str]:
    x = d.pick(d.kinds("ScatterND"), 1, 4)
    shape = d.shape_of(x)
    depth = int(d.rng.integers(1, len(shape) + 1))
    if 0 in shape:
        raise Unusable("nothing to choose from")
    rows = int(np.prod(shape[:depth]))
    flat = d.rng.permutation(rows)[: int(d.rng.integers(1, min(rows, 9) + 1))]
    index = np.stack(np.unravel_index(flat, shape[:depth]), -1).astype(np.int64)
    updates = d.new(d.kind_of(x), [len(flat), *shape[depth:]])
    return d.add("ScatterND", [x, d.put(index, I64, d.chance(0.5)), updates], **_reduction(d, d.kind_of(x)))


def top_k(d: Draw) -> list[str]:
    x = d.pick(d.kinds("TopK"), 1)
    axis = axis_of(d, len(d.shape_of(x)))
    k = int(d.rng.integers(1, max(1, d.shape_of(x)[axis]) + 1))
    return d.add("TopK", [x, d.ints(k)], outputs=2, axis=axis, largest=int(d.chance(0.6)))


def arg_extremum(d: Draw, op: str) -> list[str]:
    x = d.pick(d.kinds(op), 1)
    flags = {"keepdims": int(d.chance(0.5)), "select_last_index": int(d.chance(0.3))}
    return d.add(op, [x], axis=axis_of(d, len(d.shape_of(x))), **flags)


def with_axis(d: Draw, op: str) -> list[str]:
    """Hardmax, Softmax, LogSoftmax, LpNormalization."""
    x = d.pick(d.kinds(op), 1)
    return d.add(op, [x], axis=axis_of(d, len(d.shape_of(x))))


def cumulative(d: Draw, op: str) -> list[str]:
    x = d.pick(d.kinds(op), 1)
    axis = d.put(np.array(axis_of(d, len(d.shape_of(x))), d.one([np.int64, np.int32])))
    return d.add(op, [x, axis], exclusive=int(d.chance(0.3)), reverse=int(d.chance(0.3)))


def one_hot(d: Draw) -> list[str]:
    depth = int(d.rng.integers(1, 7))
    index = _indices(d, depth + 1, d.shape(d.rank(0, 3), 60))
    pair = d.new(d.kind([k for k in d.kinds("OneHot", 2) if k != TensorProto.BOOL]), [2])
    rank = len(d.shape_of(index))
    return d.add(
        "OneHot", [index, d.put(np.array(depth, np.int64)), pair], axis=int(d.rng.integers(-rank - 1, rank + 1))
    )


def reverse_sequence(d: Draw) -> list[str]:
    x = d.pick(d.kinds("ReverseSequence"), 2)
    time = int(d.chance(0.5))
    batch, longest = d.shape_of(x)[1 - time], d.shape_of(x)[time]
    lengths = d.put(d.rng.integers(1, max(1, longest) + 1, batch).astype(np.int64), I64, d.chance(0.5))
    return d.add("ReverseSequence", [x, lengths], time_axis=time, batch_axis=1 - time)


def of_values(d: Draw, op: str) -> list[str]:
    """Results whose sizes follow from values: outputs of the graph, which nothing reads."""
    x = d.pick(d.kinds(op), 1, 4)
    if op == "NonZero":
        return d.add(op, [x], final=True)
    if op == "Unique":
        return d.add(op, [x], outputs=int(d.rng.integers(1, 5)), final=True)  # the reference sorts always
    axis = axis_of(d, len(d.shape_of(x)))
    chosen = d.put(d.rng.random(d.shape_of(x)[axis]) < 0.5, TensorProto.BOOL, d.chance(0.5))
    return d.add(op, [x, chosen], final=True, axis=axis)


def tensor_scatter(d: Draw) -> list[str]:
    kind = d.kind(d.kinds("TensorScatter"))
    batch, rows, width = d.extent(3), 2 + d.extent(16), d.extent(16)
    count = int(d.rng.integers(1, rows))
    begin = d.put(d.rng.integers(0, rows - count + 1, batch).astype(np.int64), I64, d.chance(0.5))
    inputs = [d.new(kind, [batch, 2, rows, width]), d.new(kind, [batch, 2, count, width]), begin]
    return d.add("TensorScatter", inputs, axis=2, mode=d.one(["linear", "circular"]))


RECIPES = {
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
    "TopK": top_k,
    "OneHot": one_hot,
    "ReverseSequence": reverse_sequence,
    "TensorScatter": tensor_scatter,
    **{op: (lambda d, op=op: arg_extremum(d, op)) for op in ("ArgMax", "ArgMin")},
    **{op: (lambda d, op=op: with_axis(d, op)) for op in ("Hardmax", "Softmax", "LogSoftmax", "LpNormalization")},
    **{op: (lambda d, op=op: cumulative(d, op)) for op in ("CumSum", "CumProd")},
    **{op: (lambda d, op=op: of_values(d, op)) for op in ("NonZero", "Unique", "Compress")},
}

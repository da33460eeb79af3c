"""Operators that move elements, and constants."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, numpy_helper

from .draw import Draw
from .exact import Unusable
from .model import FLOATS, numpy_type


def axis_of(d: Draw, rank: int) -> int:
    if not rank:
        raise Unusable("a scalar has no axis")
    return int(d.rng.integers(-rank, rank))


def _shape_operand(d: Draw, shape) -> str:
    """A shape as a weight, or that of a value."""
    found = d.find(lambda n: list(d.shape_of(n)) == list(shape)) if d.chance(0.3) else None
    return d.add("Shape", [found])[0] if found else d.ints(*shape)


def reshape(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Reshape"))
    shape = [n for n in d.shape_of(x) if n != 1 or d.chance(0.3)]
    for _ in range(int(d.rng.integers(0, 3))):
        if len(shape) > 1 and d.chance(0.5):
            at = int(d.rng.integers(len(shape) - 1))
            shape[at : at + 2] = [shape[at] * shape[at + 1]]
        elif shape:
            at = int(d.rng.integers(len(shape)))
            factors = [f for f in range(1, shape[at] + 1) if shape[at] % f == 0] or [1]
            factor = d.one(factors)
            shape[at : at + 1] = [factor, shape[at] // factor]
    shape = d.one([shape, shape, [1, *shape], [*shape, 1]])
    if len(shape) > 6:
        raise Unusable("rank")
    if shape and 0 not in d.shape_of(x) and d.chance(0.4):
        shape = list(shape)
        shape[int(d.rng.integers(len(shape)))] = -1
        return d.add("Reshape", [x, d.ints(*shape)])
    if 0 in shape:
        return d.add("Reshape", [x, d.ints(*shape)], allowzero=1)
    return d.add("Reshape", [x, _shape_operand(d, shape)])


def transpose(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Transpose"))
    perm = [int(p) for p in d.rng.permutation(len(d.shape_of(x)))]
    return d.add("Transpose", [x], **({"perm": perm} if perm and d.chance(0.9) else {}))


def flatten(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Flatten"), 1)
    rank = len(d.shape_of(x))
    return d.add("Flatten", [x], axis=int(d.rng.integers(-rank, rank + 1)))


def squeeze(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Squeeze"))
    ones = [i for i, n in enumerate(d.shape_of(x)) if n == 1 and d.chance(0.7)]
    return d.add("Squeeze", [x, d.ints(*ones)] if ones or d.chance(0.5) else [x])


def unsqueeze(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Unsqueeze"), 0, 4)
    rank = len(d.shape_of(x)) + 2
    axes = [int(a) for a in d.rng.permutation(rank)[: 1 + d.chance(0.4)]]
    rank -= 2 - len(axes)
    return d.add("Unsqueeze", [x, d.ints(*(a - rank if d.chance(0.3) else a for a in axes if a < rank))])


def expand(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Expand"), 0, 5)
    shape = [n if n != 1 or d.chance(0.4) else d.extent(5) for n in d.shape_of(x)]
    if d.chance(0.3):
        shape = [d.extent(4), *shape]
    return d.add("Expand", [x, _shape_operand(d, shape)])


def tile(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Tile"), 1)
    return d.add("Tile", [x, d.ints(*(int(d.one([1, 1, 2, 3])) for _ in d.shape_of(x)))])


def _cut(d: Draw, x: str, axis: int, pieces: int) -> list[str]:
    """Parts of `x` along an axis, all of it, as slices or by a split."""
    size = d.shape_of(x)[axis]
    if size < pieces:
        raise Unusable("too short")
    at = [0, *sorted(int(v) + 1 for v in d.rng.permutation(size - 1)[: pieces - 1]), size]
    if d.chance(0.3):
        return d.add("Split", [x, d.ints(*np.diff(at).tolist())], outputs=pieces, axis=axis)
    ends = [*at[1:-1], d.one([size, 2**31 - 1])]
    return [d.add("Slice", [x, d.ints(a), d.ints(b), d.ints(axis)])[0] for a, b in zip(at[:-1], ends, strict=True)]


def _reordered(d: Draw) -> list[str]:
    """Parts of one tensor, and parts of those, in another order: rolls, swapped halves, shuffled channels."""
    x = d.pick(d.kinds("Concat"), 1, fresh=0.1)
    axis = axis_of(d, len(d.shape_of(x)))
    parts = _cut(d, x, axis, int(d.one([2, 2, 3, 4])))
    if d.chance(0.3):
        at = int(d.rng.integers(len(parts)))
        parts[at : at + 1] = _cut(d, parts[at], axis, 2)
    if d.kind_of(x) in FLOATS and d.chance(0.3):
        at = int(d.rng.integers(len(parts)))
        parts[at] = d.add("Neg", [parts[at]])[0]
    order = [int(i) for i in d.rng.permutation(len(parts))] if d.chance(0.7) else [*range(1, len(parts)), 0]
    if d.chance(0.2):
        order.append(order[0])
    return d.add("Concat", [parts[i] for i in order], axis=axis)


def concat(d: Draw) -> list[str]:
    if d.chance(0.3):
        return _reordered(d)
    x = d.pick(d.kinds("Concat"), 1)
    axis = axis_of(d, len(d.shape_of(x)))
    parts = [x]
    for _ in range(int(d.rng.integers(0, 3))):
        shape = list(d.shape_of(x))
        others = lambda n: [v for i, v in enumerate(d.shape_of(n)) if i != axis % len(shape)]
        same = lambda n: d.kind_of(n) == d.kind_of(x) and len(d.shape_of(n)) == len(shape) and others(n) == others(x)
        if d.chance(0.5) and (found := d.find(same)):
            parts.append(found)
            continue
        shape[axis] = d.extent(9)
        parts.append(d.new(d.kind_of(x), shape))
    return d.add("Concat", parts, axis=axis)


def split(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Split"), 1)
    axis = axis_of(d, len(d.shape_of(x)))
    size = d.shape_of(x)[axis]
    if size < 2 or d.chance(0.3):
        count = int(d.rng.integers(1, max(2, min(4, size + 1))))
        return d.add("Split", [x], outputs=count, axis=axis, num_outputs=count)
    at = sorted({int(v) for v in d.rng.integers(0 if d.has_empty else 1, size, 2)})
    sizes = np.diff([0, *at, size]).tolist()
    return d.add("Split", [x, d.ints(*sizes)], outputs=len(sizes), axis=axis)


def slices(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Slice"), 1)
    shape = d.shape_of(x)
    axes = sorted(int(a) for a in d.rng.permutation(len(shape))[: int(d.rng.integers(1, len(shape) + 1))])
    starts, ends, steps = [], [], []
    for axis in axes:
        size, step = max(1, shape[axis]), int(d.one([1, 1, 1, 2, 3, -1, -2]))
        a, b = sorted(int(v) for v in d.rng.integers(0, size, 2))
        starts.append(a if step > 0 else b)
        ends.append(d.one([b + 1, 2**31 - 1, b + 1 - size]) if step > 0 else a - 1 if a else -(2**31))
        if step > 0 and ends[-1] == 0:
            ends[-1] = size
        steps.append(step)
    operands = [d.ints(*v) for v in (starts, ends, [a - len(shape) if d.chance(0.3) else a for a in axes], steps)]
    return d.add("Slice", [x, *operands])


def pad(d: Draw) -> list[str]:
    mode = d.one(["constant", "constant", "reflect", "edge", *(["wrap"] if d.graph.opset >= 19 else [])])
    x = d.pick(d.kinds("Pad"), 1)
    shape = d.shape_of(x)
    axes = [i for i in range(len(shape)) if d.chance(0.6)]
    room = lambda n: min(n - 1 if mode in ("reflect", "wrap") else 4, 4) if n or mode == "constant" else 0
    amounts = [int(d.rng.integers(0, max(0, room(shape[i])) + 1)) for i in axes * 2]
    if mode == "constant" and d.chance(0.15):
        amounts = [-int(bool(a) and shape[i] > 2) for a, i in zip(amounts, axes * 2, strict=True)]
    inputs = [x, d.ints(*amounts), d.new(d.kind_of(x), []) if mode == "constant" and d.chance(0.6) else ""]
    if len(axes) == len(shape):
        return d.add("Pad", inputs, mode=mode)
    return d.add("Pad", [*inputs, d.ints(*axes)], mode=mode)


def constant(d: Draw) -> list[str]:
    kind = d.kind([TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL, TensorProto.FLOAT16])
    array = d.array(kind, d.shape(d.rank(0, 3), 60))
    return d.add("Constant", [], value=numpy_helper.from_array(array))


def constant_of_shape(d: Draw) -> list[str]:
    kind = d.kind([TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL, TensorProto.UINT8])
    shape = _shape_operand(d, d.shape(d.rank(0, 4), 200))
    return d.add("ConstantOfShape", [shape], value=numpy_helper.from_array(d.array(kind, [1])))


def eye_like(d: Draw) -> list[str]:
    x = d.pick(d.kinds("EyeLike"), 2, 2)
    return d.add("EyeLike", [x], k=int(d.rng.integers(-2, 3)), dtype=int(d.one([TensorProto.FLOAT, TensorProto.INT32])))


def trilu(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Trilu"), 2)
    inputs = [x, d.put(np.array(d.rng.integers(-3, 4), np.int64))] if d.chance(0.5) else [x]
    return d.add("Trilu", inputs, upper=int(d.chance(0.5)))


def ranges(d: Draw) -> list[str]:
    kind = d.kind(d.kinds("Range"))
    dtype = numpy_type(kind)
    start, count, delta = (int(v) for v in (d.rng.integers(-5, 6), d.rng.integers(1, 20), d.one([1, 2, 3, -1])))
    return d.add("Range", [d.put(np.array(v, dtype), kind) for v in (start, start + count * delta, delta)])


def shape_op(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Shape"))
    rank = len(d.shape_of(x))
    return d.add("Shape", [x], **({"start": int(d.rng.integers(0, rank + 1))} if d.chance(0.3) else {}))


def center_crop_pad(d: Draw) -> list[str]:
    x = d.pick(d.kinds("CenterCropPad"), 1)
    return d.add("CenterCropPad", [x, d.ints(*(max(1, n + int(d.rng.integers(-3, 4))) for n in d.shape_of(x)))])


def blocks(d: Draw, op: str) -> list[str]:
    block = int(d.one([2, 2, 3]))
    n, c, h, w = d.shape(4, MOST_BLOCKS)
    shape = [n, c * block * block, h, w] if op == "DepthToSpace" else [n, c, h * block, w * block]
    fits = lambda v: d.kind_of(v) in d.kinds(op) and len(d.shape_of(v)) == 4 and _divides(d.shape_of(v), op, block)
    x = (d.find(fits) if d.chance(0.5) else None) or d.new(d.kind(d.kinds(op)), shape)
    more = {"mode": d.one(["DCR", "CRD"])} if op == "DepthToSpace" else {}
    return d.add(op, [x], blocksize=block, **more)


MOST_BLOCKS = 80


def _divides(shape, op: str, block: int) -> bool:
    return not shape[1] % block**2 if op == "DepthToSpace" else not (shape[2] % block or shape[3] % block)


def mean_of(d: Draw, op: str) -> list[str]:
    x = d.pick([k for k in d.kinds(op) if k in FLOATS])
    return d.add(op, [x, *(d.like(x) for _ in range(int(d.rng.integers(0, 3))))])


RECIPES = {
    "Reshape": reshape,
    "Transpose": transpose,
    "Flatten": flatten,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Expand": expand,
    "Tile": tile,
    "Concat": concat,
    "Split": split,
    "Slice": slices,
    "Pad": pad,
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "EyeLike": eye_like,
    "Trilu": trilu,
    "Range": ranges,
    "Shape": shape_op,
    "CenterCropPad": center_crop_pad,
    **{op: (lambda d, op=op: blocks(d, op)) for op in ("DepthToSpace", "SpaceToDepth")},
    "Mean": lambda d: mean_of(d, "Mean"),
}

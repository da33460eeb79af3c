"""Products, windows, reductions, normalisations, recurrent networks, signals and quantised operators."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from .draw import Draw
from .exact import LARGEST, Unusable
from .model import FLOATS

F32 = TensorProto.FLOAT


def reduce(d: Draw, op: str) -> list[str]:
    low = 0.25 if op in ("ReduceLogSum", "ReduceProd") else -4
    x = d.pick(d.kinds(op), low=low, high=2 if op == "ReduceProd" else 4, fresh=0.6 if low > 0 else 0.25)
    rank = len(d.shape_of(x))
    axes = [
        int(a) - (rank if d.chance(0.3) else 0) for a in d.rng.permutation(rank)[: int(d.rng.integers(0, rank + 1))]
    ]
    inputs = [x, d.ints(*axes)] if axes else [x]
    if op == "ReduceProd" and np.prod(np.maximum(np.abs(d.values[x].array.astype(float)), 1)) > LARGEST:
        raise Unusable("in another order it leaves the type")
    return d.add(op, inputs, keepdims=int(d.chance(0.5)), noop_with_empty_axes=int(d.chance(0.1)))


def mat_mul(d: Draw) -> list[str]:
    a = d.pick(d.kinds("MatMul"), 1, 5)
    shape = list(d.shape_of(a))
    other = [shape[-1], d.extent(24)]
    if len(shape) > 2 and d.chance(0.5):
        other = [1 if d.chance(0.3) else n for n in shape[:-2]] + other
    elif d.chance(0.15):
        other = other[:1]
    fits = lambda n: d.kind_of(n) == d.kind_of(a) and list(d.shape_of(n))[:-1] == other[:-1] and len(other) > 1
    b = (d.find(fits) if d.chance(0.5) else None) or d.new(d.kind_of(a), other, -1, 1, weight=0.6)
    if d.chance(0.2) and len(d.shape_of(b)) > 1 and len(shape) > 1:
        order = lambda n: [*range(len(d.shape_of(n)) - 2), len(d.shape_of(n)) - 1, len(d.shape_of(n)) - 2]
        return d.add("MatMul", [d.add("Transpose", [n], perm=order(n))[0] for n in (b, a)])
    return d.add("MatMul", [a, b])


def gemm(d: Draw) -> list[str]:
    a = d.pick(d.kinds("Gemm"), 2, 2)
    across, back = (int(d.chance(0.4)) for _ in range(2))
    m, k = d.shape_of(a)[::-1] if across else d.shape_of(a)
    n = d.extent(24)
    b = d.new(d.kind_of(a), [n, k] if back else [k, n], -1, 1, weight=0.7)
    inputs = [a, b]
    if d.chance(0.7):
        inputs.append(d.new(d.kind_of(a), d.one([[n], [1, n], [m, 1], [m, n], [1], []]), weight=0.7))
    scale = {"alpha": 0.5, "beta": 2.0} if d.chance(0.3) and d.kind_of(a) in FLOATS else {}
    return d.add("Gemm", inputs, transA=across, transB=back, **scale)


def einsum(d: Draw) -> list[str]:
    kind = d.kind([k for k in d.kinds("Einsum") if k in FLOATS])
    size = {c: d.extent(6) for c in "bijkl"}
    text = d.one(
        ["ij,jk->ik", "bij,bjk->bik", "bij,bkj->bik", "ij->ji", "bij->b", "ij,ij->i", "bijk,bl->bijl", "i,j->ij"]
    )
    terms = text.split("->")[0].split(",")
    return d.add("Einsum", [d.new(kind, [size[c] for c in term], -2, 2) for term in terms], equation=text)


def _window(d: Draw, rank: int, spatial, most: int = 4, plain: bool = False) -> dict:
    """Kernel, strides, dilations and pads that leave at least one position."""
    kernel = [int(d.rng.integers(1, most + 1)) for _ in range(rank)]
    dilations = [1 if plain or d.chance(0.7) else int(d.rng.integers(1, 4)) for _ in range(rank)]
    pads = [int(d.rng.integers(0, k)) if d.chance(0.5) else 0 for k in kernel * 2]
    for i, size in enumerate(spatial):
        if (kernel[i] - 1) * dilations[i] + 1 > size + pads[i] + pads[i + rank]:
            kernel[i], dilations[i], pads[i], pads[i + rank] = 1, 1, 0, 0
    strides = [int(d.one([1, 1, 2, 3, 4])) for _ in range(rank)]
    return {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads}


def _image(d: Draw, op: str, most: int = 400, **bounds) -> str:
    kinds = [k for k in d.kinds(op) if k in FLOATS or op != "MaxPool"]
    fits = lambda n: d.kind_of(n) in kinds and 3 <= len(d.shape_of(n)) <= 5 and int(np.prod(d.shape_of(n))) <= 2 * most
    found = d.find(fits) if d.chance(0.6) else None
    return found or d.new(d.kind(kinds), d.shape(int(d.one([3, 4, 4, 4, 5])), most), **bounds)


def conv(d: Draw) -> list[str]:
    x = _image(d, "Conv")
    n, channels, *spatial = d.shape_of(x)
    window = _window(d, len(spatial), spatial)
    group = int(d.one([g for g in (1, 1, 1, 2, 3, channels) if g and channels % g == 0] or [1]))
    outer = group * int(d.one([1, 1, 2, 3, 5, 8] if group > 4 else [1, 2, 3, 5, 8, 16]))
    w = d.new(d.kind_of(x), [outer, channels // group, *window["kernel_shape"]], -1, 1, weight=0.85)
    bias = [d.new(d.kind_of(x), [outer], weight=0.85)] if d.chance(0.6) else []
    if d.chance(0.15):
        del window["pads"]
        window["auto_pad"] = d.one(["SAME_UPPER", "SAME_LOWER", "VALID"])
        window["dilations"] = [1] * len(spatial)
        if any(k > size for k, size in zip(window["kernel_shape"], spatial, strict=True)):
            raise Unusable("larger than the image")
    return d.add("Conv", [x, w, *bias], group=group, **window)


def conv_transpose(d: Draw) -> list[str]:
    x = _image(d, "ConvTranspose", 200)
    n, channels, *spatial = d.shape_of(x)
    window = _window(d, len(spatial), [9] * len(spatial), 3, plain=d.chance(0.6))
    window["pads"] = [0] * 2 * len(spatial)
    group = int(d.one([g for g in (1, 1, 2, 3) if g and channels % g == 0] or [1]))
    outer = int(d.one([1, 2, 3, 5]))
    w = d.new(d.kind_of(x), [channels, outer, *window["kernel_shape"]], -1, 1, weight=0.85)
    bias = [d.new(d.kind_of(x), [outer * group], weight=0.85)] if d.chance(0.5) else []
    return d.add("ConvTranspose", [x, w, *bias], group=group, **window)


def pool(d: Draw, op: str) -> list[str]:
    x = _image(d, op)
    if op == "MaxPool" and 0 in d.shape_of(x)[2:]:
        raise Unusable("the greatest of no elements is not defined")
    window = _window(d, len(d.shape_of(x)) - 2, d.shape_of(x)[2:], plain=op != "MaxPool")
    if op != "MaxPool":
        del window["dilations"]
    if op == "AveragePool":
        window["count_include_pad"] = int(d.chance(0.5))
    if op == "LpPool":
        window["p"] = int(d.one([1, 2, 2, 3]))
    return d.add(op, [x], **window)


def global_pool(d: Draw, op: str) -> list[str]:
    return d.add(op, [_image(d, op)])


def _per_channel(d: Draw, x: str, count: int, kind: int | None = None, low: float = -2) -> list[str]:
    kind = d.kind_of(x) if kind is None else kind
    return [d.new(kind, [d.shape_of(x)[1]], low, 2, weight=0.9) for _ in range(count)]


def normalisation(d: Draw, op: str) -> list[str]:
    if op == "LRN":
        return d.add(op, [_image(d, op)], size=int(d.one([1, 3, 5])), alpha=0.05)
    x = _image(d, op)
    if op == "MeanVarianceNormalization":
        return d.add(op, [x], **({"axes": [0, 2]} if d.chance(0.3) else {"axes": list(range(2, len(d.shape_of(x))))}))
    if op == "BatchNormalization":
        scale = _per_channel(d, x, 2) + _per_channel(d, x, 1) + _per_channel(d, x, 1, low=0.5)
        return d.add(op, [x, *scale])
    if op == "GroupNormalization":
        channels = d.shape_of(x)[1]
        groups = d.one([g for g in range(1, channels + 1) if channels % g == 0] or [1])
        count = channels if d.graph.opset >= 21 else groups
        return d.add(op, [x, *(d.new(d.kind_of(x), [count], weight=0.9) for _ in range(2))], num_groups=groups)
    return d.add(op, [x, *_per_channel(d, x, 2)])


def layer_norm(d: Draw, op: str) -> list[str]:
    x = d.pick(d.kinds(op), 1, 5)
    rank = len(d.shape_of(x))
    axis = int(d.rng.integers(-rank, rank))
    shape = d.shape_of(x)[axis:]
    count = 1 + (op == "LayerNormalization" and d.chance(0.6))
    return d.add(op, [x, *(d.new(d.kind_of(x), shape, weight=0.9) for _ in range(count))], axis=axis)


def recurrent(d: Draw, op: str) -> list[str]:
    kind = d.kind([k for k in d.kinds(op) if k == F32] or d.kinds(op))
    steps, batch, width, hidden = d.one([1, 2, 5]), d.one([1, 2, 3]), d.extent(9), d.one([1, 3, 8])
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    x = d.find(lambda n: d.kind_of(n) == kind and len(d.shape_of(n)) == 3 and d.shape_of(n)[0] <= 8 and d.chance(0.5))
    x = x or d.new(kind, [steps, batch, width], -1, 1)
    width = d.shape_of(x)[2]
    weight = lambda *shape: d.new(kind, shape, -1, 1, weight=1)
    inputs = [x, weight(1, gates * hidden, width), weight(1, gates * hidden, hidden)]
    if d.chance(0.5):
        inputs.append(weight(1, 2 * gates * hidden))
    more = {"linear_before_reset": int(d.chance(0.5))} if op == "GRU" else {}
    return d.add(op, inputs, outputs=3 if op == "LSTM" else 2, hidden_size=hidden, **more)


def resize(d: Draw, op: str = "Resize") -> list[str]:
    x = _image(d, op, 200)
    mode = d.one(["nearest", "linear", "cubic"] if d.kind_of(x) in FLOATS else ["nearest"])
    if len(d.shape_of(x)) != 4 and mode == "cubic":
        raise Unusable("cubic is for images")
    scales = [1.0, 1.0] + [float(d.one([0.5, 1, 2, 3])) for _ in d.shape_of(x)[2:]]
    if any(n * s < 1 for n, s in zip(d.shape_of(x), scales, strict=True)):
        raise Unusable("nothing left")
    form = d.one(["half_pixel", "asymmetric", "align_corners"]) if mode != "nearest" else "asymmetric"
    more = {"nearest_mode": "floor"} if mode == "nearest" else {}
    inputs = [x, "", d.put(np.array(scales, np.float32))]
    return d.add(op, inputs, mode=mode, coordinate_transformation_mode=form, **more)


def affine_grid(d: Draw) -> list[str]:
    dims, batch = 2 + int(d.rng.integers(2)), int(d.rng.integers(1, 3))
    kind = d.kind([k for k in d.kinds("AffineGrid") if k in FLOATS])
    image = [int(d.rng.integers(2, 5)) for _ in range(dims)]  # onnxruntime and the body disagree about single pixels
    return d.add(
        "AffineGrid",
        [d.new(kind, [batch, dims, dims + 1], -1, 1), d.ints(batch, 3, *image)],
        align_corners=int(d.rng.integers(2)),
    )


def grid_sample(d: Draw) -> list[str]:
    kind = d.kind([k for k in d.kinds("GridSample") if k in FLOATS])
    n, c, h, w = d.shape(4, 200)
    grid = d.new(kind if d.chance(0.0) else F32, [n, d.extent(6), d.extent(6), 2], -1.3, 1.3)
    flags = {"padding_mode": d.one(["zeros", "border", "reflection"]), "align_corners": int(d.chance(0.5))}
    mode = d.one(["linear", "nearest"] if d.graph.opset >= 20 else ["bilinear", "nearest"])
    return d.add("GridSample", [d.new(kind, [n, c, h, w]), grid], mode=mode, **flags)


def col2im(d: Draw) -> list[str]:
    image, block = [d.one([4, 5, 7, 9]) for _ in range(2)], [d.one([1, 2, 3]) for _ in range(2)]
    strides = [d.one([1, 2]) for _ in range(2)]
    count = int(np.prod([(n - b) // s + 1 for n, b, s in zip(image, block, strides, strict=True)]))
    kind = d.kind([k for k in d.kinds("Col2Im") if k in FLOATS])
    x = d.new(kind, [1, d.extent(5) * int(np.prod(block)), count])
    return d.add("Col2Im", [x, d.ints(*image), d.ints(*block)], strides=strides)


def attention(d: Draw) -> list[str]:
    kind = d.kind([k for k in d.kinds("Attention") if k in (F32, TensorProto.FLOAT16)])
    batch, heads, rows, keys, width = d.one([1, 2]), d.one([1, 2, 4]), d.extent(9), d.extent(17), d.one([4, 8, 16])
    shared = d.one([h for h in (1, 2, 4) if heads % h == 0])
    q = d.new(kind, [batch, heads, rows, width], -2, 2, weight=0.1)
    k, v = (d.new(kind, [batch, shared, keys, width], -2, 2, weight=0.1) for _ in range(2))
    mask = [d.new(d.one([kind]), [rows, keys], -2, 2)] if d.chance(0.4) else []
    return d.add("Attention", [q, k, v, *mask], is_causal=int(d.chance(0.3) and rows <= keys and not mask))


def rotary(d: Draw) -> list[str]:
    kind = d.kind(d.kinds("RotaryEmbedding"))
    batch, heads, rows, width = d.one([1, 2]), d.one([1, 2, 3]), d.extent(9), d.one([4, 8, 16])
    angles = d.rng.uniform(0, 3, (batch, rows, width // 2))
    wide = [np.round(f(angles) * 64) / 64 for f in (np.cos, np.sin)]
    caches = [d.put(a.astype(d.array(kind, [1]).dtype), kind) for a in wide]
    x = d.new(kind, [batch, heads, rows, width], weight=0.1)
    return d.add("RotaryEmbedding", [x, *caches], interleaved=int(d.chance(0.5)))


def quantise(d: Draw) -> list[str]:
    x = d.pick([F32], 1, 4)
    kind = d.one([TensorProto.UINT8, TensorProto.INT8])
    zero = d.new(kind, [], 0, 4, weight=1)
    return d.add("QuantizeLinear", [x, d.put(np.array(d.one([0.25, 0.5]), np.float32)), zero])


def dequantise(d: Draw) -> list[str]:
    x = d.pick([TensorProto.UINT8, TensorProto.INT8], 1, 4)
    return d.add("DequantizeLinear", [x, d.put(np.array(0.25, np.float32)), d.new(d.kind_of(x), [], 0, 3, weight=1)])


def integer_product(d: Draw, op: str) -> list[str]:
    a = d.new(TensorProto.UINT8, [d.extent(9), d.extent(17)])
    if op == "MatMulInteger":
        b = d.new(d.one([TensorProto.INT8, TensorProto.UINT8]), [d.shape_of(a)[1], d.extent(17)])
        return d.add(op, [a, b, d.new(TensorProto.UINT8, [], 0, 3)])
    x = d.new(TensorProto.UINT8, [1, d.one([1, 2, 3]), 5, 7])
    return d.add(
        op, [x, d.new(TensorProto.UINT8, [4, d.shape_of(x)[1], 3, 3], weight=1), d.new(TensorProto.UINT8, [], 0, 3)]
    )


REDUCTIONS = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()
NORMS = "BatchNormalization InstanceNormalization GroupNormalization LRN MeanVarianceNormalization".split()
RECIPES = {
    **{f"Reduce{op}": (lambda d, op=f"Reduce{op}": reduce(d, op)) for op in REDUCTIONS},
    **{op: (lambda d, op=op: pool(d, op)) for op in ("MaxPool", "AveragePool", "LpPool")},
    **{op: (lambda d, op=op: global_pool(d, op)) for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")},
    **{op: (lambda d, op=op: normalisation(d, op)) for op in NORMS},
    **{op: (lambda d, op=op: layer_norm(d, op)) for op in ("LayerNormalization", "RMSNormalization")},
    **{op: (lambda d, op=op: recurrent(d, op)) for op in ("RNN", "GRU", "LSTM")},
    **{op: (lambda d, op=op: integer_product(d, op)) for op in ("MatMulInteger", "ConvInteger")},
    "MatMul": mat_mul,
    "Gemm": gemm,
    "Einsum": einsum,
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "Resize": resize,
    "AffineGrid": affine_grid,
    "GridSample": grid_sample,
    "Col2Im": col2im,
    "Attention": attention,
    "RotaryEmbedding": rotary,
    "QuantizeLinear": quantise,
    "DequantizeLinear": dequantise,
}

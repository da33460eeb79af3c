"""Kernels for the operators of test_kernels.py, as a user writes them."""

import pypto.language as pl
from pto_mlir.kernels import TensorSpec, implements


@implements("example::RMSNorm")
@pl.jit
def rms_norm(x: pl.Tensor, gamma: pl.Tensor, out: pl.Out[pl.Tensor], epsilon: pl.FP32):
    with pl.at(level=pl.Level.CORE_GROUP):
        h, w = x.shape
        g = pl.load(gamma, [0, 0], [1, w])
        for i in pl.range(0, h, 8):
            t = pl.load(x, [i, 0], [8, w])
            mean = pl.mul(pl.reshape(pl.tile.row_sum(pl.mul(t, t)), [1, 8]), 1.0 / w)
            root = pl.reshape(pl.tile.sqrt(pl.add(mean, epsilon)), [8, 1])
            out = pl.store(pl.tile.col_expand_mul(pl.tile.row_expand_div(t, root), g), [i, 0], out)
    return out


@implements("example::AddSub", outputs=lambda a, b: [a, a])
@pl.jit
def add_sub(a: pl.Tensor, b: pl.Tensor, s: pl.Out[pl.Tensor], d: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        h, w = a.shape
        x = pl.load(a, [0, 0], [h, w])
        y = pl.load(b, [0, 0], [h, w])
        pl.store(pl.add(x, y), [0, 0], s)
        pl.store(pl.sub(x, y), [0, 0], d)
    return s, d


@implements("example::Attention", outputs=lambda q, k, v, scale: [TensorSpec((q.shape[0], v.shape[1]), q.dtype)])
@pl.jit
def attention(q: pl.Tensor, k: pl.Tensor, v: pl.Tensor, out: pl.Out[pl.Tensor], scale: pl.FP32):
    with pl.at(level=pl.Level.CORE_GROUP):
        scores = pl.mul(pl.matmul(q, k, out_dtype=pl.FP32, b_trans=True), scale)
        e = pl.exp(pl.sub(scores, pl.row_max(scores)))
        p = pl.div(e, pl.row_sum(e))
        out[:] = pl.matmul(p, v, out_dtype=pl.FP32)
    return out


@implements("example::Rotary")
@pl.jit
def rotary(x: pl.Tensor, cos: pl.Tensor, sin: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        h, w = x.shape
        half = w // 2
        c = pl.load(cos, [0, 0], [h, half])
        s = pl.load(sin, [0, 0], [h, half])
        a = pl.load(x, [0, 0], [h, half])
        b = pl.load(x, [0, half], [h, half])
        out = pl.store(pl.sub(pl.mul(a, c), pl.mul(b, s)), [0, 0], out)
        out = pl.store(pl.add(pl.mul(b, c), pl.mul(a, s)), [0, half], out)
    return out


@implements("example::Twice", outputs=lambda i: [i])
@pl.jit
def twice(i: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        h, w = i.shape
        t = pl.load(i, [0, 0], [h, w])
        pl.store(pl.add(t, t), [0, 0], out)
    return out

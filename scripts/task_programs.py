"""Programs with tasks of both kinds of core, with inputs and what numpy computes: for scripts/compare_tasks.py and the
tests of the output tree."""

import numpy as np
import pypto.language as pl

M, K, N = 32, 64, 256


@pl.program
class Sums:
    """Vector cores compute what the cube core multiplies."""

    @pl.function
    def main(
        self,
        a: pl.Tensor[[32, 32], pl.FP32],
        b: pl.Tensor[[32, 32], pl.FP32],
        y: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="sums"):
            product = pl.matmul(pl.add(a, b), pl.sub(a, b))
            y = pl.assemble(y, product, [0, 0])
        return y


@pl.program
class Both:
    """There and back in a loop, into the tensor that the loop reads: more tiles than a queue has slots."""

    @pl.function
    def main(
        self,
        a: pl.Tensor[[M, K], pl.FP32],
        b: pl.Tensor[[K, N], pl.FP32],
        c: pl.InOut[pl.Tensor[[M, N], pl.FP32]],
    ) -> pl.Tensor[[M, N], pl.FP32]:
        for turn in pl.range(3):
            with pl.at(level=pl.Level.CORE_GROUP):
                for i in pl.range(0, N // 16):
                    at = i * 16
                    held = pl.slice(c, [M, 16], [0, at])
                    next = pl.add(held, pl.matmul(pl.add(a, 1.0), pl.slice(b, [K, 16], [0, at])))
                    c = pl.assemble(c, next, [0, at])
        return c


@pl.program
class Softmax:
    """Rows of a product, normalised and multiplied again."""

    @pl.function
    def main(
        self,
        q: pl.Tensor[[32, 64], pl.FP32],
        k: pl.Tensor[[64, 64], pl.FP32],
        v: pl.Tensor[[64, 32], pl.FP32],
        y: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="softmax"):
            scores = pl.matmul(q, k)
            weights = pl.exp(pl.row_expand_sub(scores, pl.row_max(scores)))
            shares = pl.row_expand_div(weights, pl.row_sum(weights))
            y = pl.assemble(y, pl.matmul(shares, v), [0, 0])
        return y


@pl.program
class Whole:
    """A transposition needs the whole tile, so both vector cores have it and the first one stores."""

    @pl.function
    def main(
        self,
        a: pl.Tensor[[32, 32], pl.FP32],
        b: pl.Tensor[[32, 32], pl.FP32],
        y: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="whole"):
            y = pl.assemble(y, pl.exp(pl.transpose(pl.matmul(a, b), 0, 1)), [0, 0])
        return y


@pl.program
class Blocks:
    """As many blocks as a run says, each with a loop of both kinds of core."""

    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self,
        x: pl.Tensor[[64, 64], pl.FP32],
        w: pl.Tensor[[64, 32], pl.FP32],
        n: pl.Scalar[pl.INT32],
        y: pl.InOut[pl.Tensor[[64, 32], pl.FP32]],
    ) -> pl.Tensor[[64, 32], pl.FP32]:
        for block in pl.spmd(n):
            total = pl.full([16, 32], dtype=pl.FP32, value=0.0)
            for k in pl.range(4):
                part = pl.slice(x, [16, 16], [block * 16, k * 16])
                total = pl.add(total, pl.matmul(part, pl.slice(w, [16, 32], [k * 16, 0])))
            y = pl.assemble(y, total, [block * 16, 0])
        return y


def _numbers(*shape, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) / 4).astype(np.float32)


def _softmax(q, k, v, y):
    scores = np.exp(q @ k - (q @ k).max(1, keepdims=True))
    return scores / scores.sum(1, keepdims=True) @ v


def _blocks(x, w, n, y):
    return np.vstack([(x @ w)[: 16 * n], y[16 * n :]])


# Name -> the program, its arguments, and what numpy says in float64 that the last one is then.
PROGRAMS = {
    "sums": (Sums, [_numbers(32, 32), _numbers(32, 32, seed=1), _numbers(32, 32)], lambda a, b, y: (a + b) @ (a - b)),
    "both": (Both, [_numbers(M, K), _numbers(K, N, seed=1), _numbers(M, N)], lambda a, b, c: c + 3 * (a + 1) @ b),
    "softmax": (
        Softmax,
        [_numbers(32, 64), _numbers(64, 64, seed=1), _numbers(64, 32, seed=2), _numbers(32, 32)],
        _softmax,
    ),
    "whole": (Whole, [_numbers(32, 32), _numbers(32, 32, seed=1), _numbers(32, 32)], lambda a, b, y: np.exp((a @ b).T)),
    "blocks": (Blocks, [_numbers(64, 64), _numbers(64, 32, seed=1), 3, _numbers(64, 32, seed=2)], _blocks),
}


def arguments_of(name):
    """Copies of a program's arguments."""
    return [each.copy() if isinstance(each, np.ndarray) else each for each in PROGRAMS[name][1]]


def expected(name):
    """What the last argument is behind a run, in float64."""
    return PROGRAMS[name][2](
        *(each.astype(np.float64) if isinstance(each, np.ndarray) else each for each in PROGRAMS[name][1])
    )

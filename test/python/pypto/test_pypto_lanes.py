"""pl.split_aiv: what each vector core of a block does, and what the cube core and they hand to each other."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import InvalidOperationError, ParserSyntaxError
from pypto.runtime import RunConfig
from test_pypto_groups import numbers

both = pytest.mark.parametrize("platform", ["a2a3", "a5"])
modes = pytest.mark.parametrize("mode", [pl.SplitMode.UP_DOWN, pl.SplitMode.LEFT_RIGHT])


def run(kernel, *arrays, platform="a2a3"):
    kernel(*arrays, config=RunConfig(platform=platform))


def check(out, expected):
    scale = np.abs(expected).max()
    np.testing.assert_allclose(out, expected, rtol=2e-3, atol=2e-3 * scale)


@both
@modes
@pytest.mark.parametrize("m, n", [(32, 64), (17, 48), (33, 16)])
def test_tensors_there_and_back(platform, mode, m, n):
    """Half of a product on each core; the joined halves are multiplied again where their extent is even."""
    rows = mode == pl.SplitMode.UP_DOWN
    half = [(m + 1) // 2, n] if rows else [m, (n + 1) // 2]
    down, right = (half[0], 0) if rows else (0, half[1])
    is_even = m % 2 == 0 or not rows

    @pl.jit
    def kernel(a: pl.Tensor, b: pl.Tensor, c: pl.Tensor, y: pl.InOut[pl.Tensor], z: pl.InOut[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="there"):
            raw = pl.matmul(a, b, out_dtype=pl.FP32)
            for lane in pl.split_aiv(2, mode=mode):
                mine = pl.mul(pl.aiv_shard(raw), 0.5)
                y[lane * down : lane * down + half[0], lane * right : lane * right + half[1]] = mine
            if is_even:
                for lane in pl.split_aiv(2, mode=mode):
                    h = pl.aiv_shard(raw)
                    s = pl.cast(pl.maximum(h, 0.0), pl.FP16)
                    full = pl.aic_gather(s)
                product = pl.matmul(full, c, out_dtype=pl.FP32)
                z = pl.assemble(z, product, [0, 0])
            else:
                z = pl.assemble(z, pl.matmul(a, b[:, 0:16], out_dtype=pl.FP32), [0, 0])
        return y, z

    a, b = numbers(m, 32, dtype=np.float16), numbers(32, n, seed=1, dtype=np.float16)
    c = numbers(n, 16, seed=2, dtype=np.float16)
    y, z = (
        np.zeros((2 * half[0], half[1]) if rows else (half[0], 2 * half[1]), np.float32),
        np.zeros((m, 16), np.float32),
    )
    run(kernel, a, b, c, y, z, platform=platform)
    raw = a.astype(np.float64) @ b.astype(np.float64)
    check(y[:m, :n], raw / 2)
    assert not y[m:].any() and not y[:, n:].any()
    if is_even:
        check(z, np.maximum(raw, 0).astype(np.float16).astype(np.float64) @ c.astype(np.float64))


@both
@modes
def test_tiles_in_loops(platform, mode):
    """A product that stays while a loop's regions read it, and one that is joined in Mat."""
    rows = mode == pl.SplitMode.UP_DOWN
    down, right = (16, 0) if rows else (0, 16)

    @pl.jit
    def kernel(a: pl.Tensor, b: pl.Tensor, y: pl.InOut[pl.Tensor], z: pl.InOut[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            left = pl.move(pl.load(a, [0, 0], [32, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
            right_ = pl.load(b, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
            acc = pl.matmul(left, pl.move(right_, target_memory=pl.Mem.Right))
            for i in pl.range(3):
                for lane in pl.split_aiv(2, mode=mode):
                    part = pl.aiv_shard(acc)
                    row = lane * down + i * 32
                    y = pl.store(pl.add(part, 1.0), [row, lane * right], y)
            for lane in pl.split_aiv(2, mode=mode):
                again = pl.aiv_shard(acc)
                joined = pl.aic_gather(pl.cast(again, pl.FP16))
            second = pl.matmul(pl.move(joined, target_memory=pl.Mem.Left), pl.move(right_, target_memory=pl.Mem.Right))
            z = pl.store(second, [0, 0], z)
        return y, z

    a, b = numbers(32, 32, dtype=np.float16), numbers(32, 32, seed=1, dtype=np.float16)
    y, z = np.zeros((96, 32), np.float32), np.zeros((32, 32), np.float32)
    run(kernel, a, b, y, z, platform=platform)
    acc = a.astype(np.float64) @ b.astype(np.float64)
    check(y, np.tile(acc + 1, (3, 1)))
    check(z, acc.astype(np.float16).astype(np.float64) @ b.astype(np.float64))


@both
def test_lanes_of_blocks(platform):
    """Without a mode both cores have whole tiles, and what they do follows from their number."""

    @pl.jit
    def kernel(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        for block in pl.spmd(2):
            for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
                row = block * 32 + lane * 16
                acc = pl.load(x, [row, 0], [16, 64])
                for i in pl.range(3):
                    acc = pl.add(acc, pl.load(x, [row, 0], [16, 64]))
                if lane == 0:
                    pl.store(acc, [row, 0], y)
                else:
                    pl.store(pl.neg(acc), [row, 0], y)
        return y

    x, y = numbers(64, 64), np.zeros((64, 64), np.float32)
    run(kernel, x, y, platform=platform)
    sign = np.where(np.arange(64) // 16 % 2, -1, 1)[:, None]
    check(y, 4.0 * x * sign)


@both
def test_cores_that_signal(platform):
    """Events between the cores of a block order nothing that is not ordered already."""

    @pl.jit
    def kernel(x: pl.Tensor, w: pl.Tensor, t: pl.InOut[pl.Tensor], ws: pl.Tensor, y: pl.Out[pl.Tensor]):
        for _ in pl.spmd(1):
            pl.system.set_ffts(ws)
            for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
                t = pl.store(pl.add(pl.load(x, [lane * 16, 0], [16, 32]), 1.0), [lane * 16, 0], t)
                pl.system.sync_set(4, pipe=pl.PipeType.MTE3, ffts_mode=2, core_type="aiv")
            pl.system.sync_wait(4, pipe=pl.PipeType.MTE2, core_type="aic")
            left = pl.load(t, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
            right = pl.load(w, [0, 0], [32, 16], target_memory=pl.Mem.Mat)
            acc = pl.matmul(pl.move(left, target_memory=pl.Mem.Left), pl.move(right, target_memory=pl.Mem.Right))
            y = pl.store(acc, [0, 0], y)
        return y

    x, w, y = numbers(32, 32), numbers(32, 16, seed=1), np.zeros((32, 16), np.float32)
    run(kernel, x, w, np.zeros_like(x), np.zeros(256, np.int64), y, platform=platform)
    check(y, (x + 1).astype(np.float64) @ w)


@both
def test_an_extent_that_ends_in_the_first_half(platform):
    """The second core has nothing: it stores nothing, whatever it computes."""

    @pl.jit
    def kernel(a: pl.Tensor, y: pl.InOut[pl.Tensor], z: pl.InOut[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            left = pl.load(a, [0, 0], [32, 32], valid_shape=[5, 32], target_memory=pl.Mem.Mat)
            right = pl.load(a, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
            acc = pl.matmul(pl.move(left, target_memory=pl.Mem.Left), pl.move(right, target_memory=pl.Mem.Right))
            for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
                part = pl.aiv_shard(acc)
                y = pl.store(pl.add(part, 1.0), [lane * 16, 0], y)
                z = pl.store(pl.row_max(part), [lane * 16, 0], z)
        return y, z

    a, y, z = numbers(32, 32), np.zeros((32, 32), np.float32), np.zeros((32, 1), np.float32)
    run(kernel, a, y, z, platform=platform)
    acc = a[:5].astype(np.float64) @ a
    check(y[:5], acc + 1)
    check(z[:5], acc.max(axis=1, keepdims=True))
    assert not y[5:].any() and not z[5:].any()


@both
@pytest.mark.parametrize("valid", [1, 5, 8, 13, 15, 16])
@pytest.mark.parametrize("in_branch", [False, True])
def test_views_that_are_valid_in_part(platform, valid, in_branch):
    """A view that reaches behind its tensor: the product, its parts and what is stored are valid as far as it is."""

    @pl.jit
    def kernel(a: pl.Tensor, w: pl.Tensor, y: pl.InOut[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            some = pl.slice(a, [16, 64], [0, 0], valid_shape=[valid, 64])
            acc = pl.matmul(some, w, b_trans=True, out_dtype=pl.FP32)
            for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
                part = pl.exp(pl.aiv_shard(acc))
                if in_branch:
                    if lane == 0:
                        y[0:8, :] = part
                else:
                    y[lane * 8 : lane * 8 + 8, :] = part
        return y

    a, w, y = numbers(valid, 64) / 8, numbers(32, 64, seed=1) / 8, np.zeros((16, 32), np.float32)
    run(kernel, a, w, y, platform=platform)
    stored = min(valid, 8) if in_branch else valid
    check(y[:stored], np.exp(a.astype(np.float64) @ w.T)[:stored])
    assert not y[stored:].any()


HEAD = """
import pypto.language as pl
@pl.function(type=pl.FunctionType.Orchestration)
def f(x: pl.Tensor[[32, 32], pl.FP32], y: pl.InOut[pl.Tensor[[32, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.load(x, [0, 0], [32, 32])
"""


@pytest.mark.parametrize(
    "body, kind, text",
    [
        (["s = pl.aiv_shard(t)"], InvalidOperationError, "pl.aiv_shard is of one vector core"),
        (["s = pl.aic_gather(t)"], InvalidOperationError, "pl.aic_gather is of one vector core"),
        (
            [
                "for a in pl.split_aiv(2, mode=pl.SplitMode.NONE):",
                "    for b in pl.split_aiv(2, mode=pl.SplitMode.NONE):",
                "        s = pl.add(t, t)",
            ],
            ParserSyntaxError,
            "pl.split_aiv does not nest",
        ),
    ],
)
def test_refused(body, kind, text):
    with pytest.raises(kind) as error:
        pl.parse(HEAD + "".join(f"        {line}\n" for line in body))
    assert text in str(error.value)


def test_printed_and_read_again():
    f = pl.parse(
        HEAD
        + """
        for a in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
            s = pl.aiv_shard(t)
            j = pl.aic_gather(s)
            pl.store(pl.add(s, 1.0), [0, a * 16], y)
"""
    )
    from pypto.pypto_core import ir

    text = ir.python_print(f)
    assert "pl.Tile[[32, 16], pl.FP32, pl.Mem.Vec]" in text and "pl.Tile[[32, 32], pl.FP32, pl.Mem.Mat]" in text
    assert ir.structural_equal(pl.parse(text), f)


@both
def test_a_declared_extent_says_no_layout(platform):
    """`pl.TileView(valid_shape=..)` of a product keeps the layout of its memory."""

    @pl.jit
    def kernel(x: pl.Tensor, w: pl.Tensor, y: pl.InOut[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            left: pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat, pl.TileView(valid_shape=[5, 32])] = pl.load(
                x, [0, 0], [16, 32], valid_shape=[5, 32], target_memory=pl.Mem.Mat
            )
            right = pl.load(w, [0, 0], [32, 16], target_memory=pl.Mem.Mat)
            acc: pl.Tile[[16, 16], pl.FP32, pl.Mem.Acc, pl.TileView(valid_shape=[5, 16])] = pl.matmul(
                pl.move(left, target_memory=pl.Mem.Left), pl.move(right, target_memory=pl.Mem.Right)
            )
            y = pl.store(acc, [0, 0], y)
        return y

    x, w, y = numbers(5, 32), numbers(32, 16, seed=1), np.zeros((16, 16), np.float32)
    run(kernel, x, w, y, platform=platform)
    check(y[:5], x.astype(np.float64) @ w)
    assert not y[5:].any()

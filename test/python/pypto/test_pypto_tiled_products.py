"""Products that L0 does not hold, batches, chains in Mat, and accumulators of loops. Numbers against numpy."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import InvalidOperationError, UnsupportedFeatureError
from pypto.runtime import RunConfig

both = pytest.mark.parametrize("platform", ["a2a3", "a5"])


def numbers(*shape, seed=0, dtype=np.float32):
    made = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "i":
        return made.integers(-3, 4, shape).astype(dtype)
    return made.standard_normal(shape).astype(dtype)


def run(kernel, *arrays, platform="a2a3"):
    kernel(*arrays, config=RunConfig(platform=platform))


def check(out, expected):
    scale = np.abs(expected).max()
    np.testing.assert_allclose(out, expected, rtol=2e-3, atol=2e-3 * scale)


@pl.jit
def of_tiles(a: pl.Tensor, b: pl.Tensor, bias: pl.Tensor, c: pl.Out[pl.Tensor], d: pl.Out[pl.Tensor]):
    m, k = a.shape
    n = b.shape[1]
    with pl.at(level=pl.Level.CORE_GROUP):
        left = pl.load(a, [0, 0], [m, k], target_memory=pl.Mem.Mat)
        right = pl.load(b, [0, 0], [k, n], target_memory=pl.Mem.Mat)
        row = pl.load(bias, [0, 0], [1, n], target_memory=pl.Mem.Mat)
        c = pl.store(pl.matmul(left, right, out_dtype=pl.FP32), [0, 0], c)
        d = pl.store(pl.tile.matmul_bias(left, right, row), [0, 0], d)
    return c, d


@both
@pytest.mark.parametrize("m, k, n", [(64, 384, 64), (256, 64, 384), (272, 80, 144), (16, 32, 528), (528, 48, 16)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_tiles_that_l0_does_not_hold(platform, m, k, n, dtype):
    a, b, bias = numbers(m, k, dtype=dtype), numbers(k, n, seed=1, dtype=dtype), numbers(1, n, seed=2)
    c, d = np.zeros((m, n), np.float32), np.zeros((m, n), np.float32)
    run(of_tiles, a, b, bias, c, d, platform=platform)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    check(c, expected)
    check(d, expected + bias)


@both
@pytest.mark.parametrize("transposed", ["", "a", "b"])
@pytest.mark.parametrize("batch", [(2,), (2, 3)])
def test_batches_of_tiles(platform, transposed, batch):
    m, k, n = 32, 48, 64
    shape_a = [*batch, k, m] if transposed == "a" else [*batch, m, k]
    shape_b = [*batch, n, k] if transposed == "b" else [*batch, k, n]
    zeros = [0] * len(shape_a)

    @pl.jit
    def product(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            left = pl.load(a, zeros, shape_a, target_memory=pl.Mem.Mat)
            right = pl.load(b, zeros, shape_b, target_memory=pl.Mem.Mat)
            if transposed == "a":
                left = pl.tile.transpose_view(left)
            if transposed == "b":
                right = pl.tile.transpose_view(right)
            c = pl.store(pl.batch_matmul(left, right), zeros, c)
        return c

    a, b, c = numbers(*shape_a), numbers(*shape_b, seed=1), np.zeros([*batch, m, n], np.float32)
    run(product, a, b, c, platform=platform)
    left = np.swapaxes(a, -1, -2) if transposed == "a" else a
    right = np.swapaxes(b, -1, -2) if transposed == "b" else b
    check(c, left.astype(np.float64) @ right)


@both
@pytest.mark.parametrize("lead", [(), (3,)])
def test_batches_of_tensors(platform, lead):
    @pl.jit
    def product(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            first = pl.matmul(a, b, b_trans=True, out_dtype=pl.FP32)
            both_ = pl.matmul_acc(first, a, b, b_trans=True)
            c = pl.assemble(c, both_, [0, 0, 0])
        return c

    a, b, c = numbers(*lead, 32, 48), numbers(3, 64, 48, seed=1), np.zeros((3, 32, 64), np.float32)
    run(product, a, b, c, platform=platform)
    check(c, 2 * (a.astype(np.float64) @ np.swapaxes(b, 1, 2)))


@both
@pytest.mark.parametrize("size", [64, 256])
def test_a_product_in_mat_is_an_operand(platform, size):
    @pl.jit
    def chain(a: pl.Tensor, b: pl.Tensor, e: pl.Tensor, out: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            left = pl.load(a, [0, 0], [size, 48], target_memory=pl.Mem.Mat)
            right = pl.load(b, [0, 0], [48, size], target_memory=pl.Mem.Mat)
            last = pl.load(e, [0, 0], [size, 64], target_memory=pl.Mem.Mat)
            held = pl.cast(pl.matmul(left, right), pl.FP16, mode="rint")
            out = pl.store(pl.matmul(held, last), [0, 0], out)
        return out

    a, b, e = (
        numbers(*shape, seed=i, dtype=np.float16) for i, shape in enumerate([(size, 48), (48, size), (size, 64)])
    )
    out = np.zeros((size, 64), np.float32)
    run(chain, a, b, e, out, platform=platform)
    middle = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    check(out, middle.astype(np.float64) @ e)


ACCUMULATED = [(64, 48, np.float32), (64, 48, np.int8), (272, 144, np.int8), (16, 2080, np.int8)]
# Two blocks have half of the columns each, which must be whole tiles.
WAYS = [(*each, way) for each in ACCUMULATED for way in ("branch_at", "init_at")]
WAYS += [(*each, "branch_spmd") for each in ACCUMULATED if each[1] % 32 == 0]


@both
@pytest.mark.parametrize("m, n, dtype, way", WAYS)
def test_an_accumulator_of_a_loop(platform, m, n, dtype, way):
    made = pl.INT32 if dtype == np.int8 else pl.FP32

    @pl.jit
    def branch_at(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            acc = pl.create_tensor([m, n], dtype=made)
            for kb in pl.pipeline(4, stage=2):
                x = a[:, kb * 64 : kb * 64 + 64]
                y = b[kb * 64 : kb * 64 + 64, :]
                if kb == 0:
                    acc = pl.matmul(x, y, out_dtype=made)
                else:
                    acc = pl.matmul_acc(acc, x, y)
            c[0:m, 0:n] = acc
        return c

    @pl.jit
    def init_at(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            acc = pl.create_tensor([m, n], dtype=made)
            for kb in pl.range(4):
                acc = pl.matmul_acc(acc, a[:, kb * 64 : kb * 64 + 64], b[kb * 64 : kb * 64 + 64, :], init_cond=kb == 0)
            c[0:m, 0:n] = acc
        return c

    @pl.jit
    def branch_spmd(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
        for i in pl.spmd(2):
            acc = pl.create_tensor([m, n // 2], dtype=made)
            for kb in pl.range(4):
                x = a[:, kb * 64 : kb * 64 + 64]
                y = b[kb * 64 : kb * 64 + 64, i * (n // 2) : i * (n // 2) + n // 2]
                if kb == 0:
                    acc = pl.matmul(x, y, out_dtype=made)
                else:
                    acc = pl.matmul_acc(acc, x, y)
            c[0:m, i * (n // 2) : i * (n // 2) + n // 2] = acc
        return c

    kernel = {"branch_at": branch_at, "init_at": init_at, "branch_spmd": branch_spmd}[way]
    a, b = numbers(m, 256, dtype=dtype), numbers(256, n, seed=1, dtype=dtype)
    c = np.zeros((m, n), np.int32 if dtype == np.int8 else np.float32)
    run(kernel, a, b, c, platform=platform)
    check(c, a.astype(np.float64) @ b)


@both
def test_blocks_with_products_and_vector_operations(platform):
    @pl.jit
    def mixed(x: pl.Tensor, w: pl.Tensor, y: pl.Out[pl.Tensor], z: pl.Out[pl.Tensor]):
        for i in pl.spmd(4):
            row = i * 16
            acc = pl.matmul(x[row : row + 16, :], w)
            z[row : row + 16, :] = pl.cast(acc, pl.FP16, mode="rint")
            y[row : row + 16, :] = pl.exp(x[row : row + 16, :])
        return y, z

    x, w = numbers(64, 32), numbers(32, 48, seed=1)
    y, z = np.zeros((64, 32), np.float32), np.zeros((64, 48), np.float16)
    run(mixed, x, w, y, z, platform=platform)
    np.testing.assert_allclose(y, np.exp(x.astype(np.float64)), rtol=1e-5)
    check(z, x.astype(np.float64) @ w)


def test_a_copy_outside_of_scopes_is_a_kernel():
    @pl.jit
    def copied(x: pl.Tensor, y: pl.InOut[pl.Tensor]):
        t = pl.create_tensor([16, 32], dtype=pl.FP32)
        with pl.at(level=pl.Level.CORE_GROUP):
            t = pl.assemble(t, pl.add(x, x), [0, 0])
        y[8:24, 0:32] = t
        return y

    x, y = numbers(16, 32), np.zeros((32, 32), np.float32)
    copied(x, y)
    np.testing.assert_array_equal(y[8:24], 2 * x)
    assert not y[:8].any() and not y[24:].any()


@pytest.mark.parametrize(
    "use, message",
    [
        ("y = pl.assemble(y, pl.exp(acc), [0, 0])", "is greater than L0C"),
        ("y = pl.assemble(y, pl.matmul(acc, x), [0, 0])", "is greater than L0C"),
    ],
)
def test_what_reads_a_product_that_waits_is_refused(use, message):
    text = f"""
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[256, 256], pl.FP32], y: pl.Out[pl.Tensor[[256, 256], pl.FP32]]):
        acc = pl.create_tensor([256, 256], dtype=pl.FP32)
        for k in pl.range(4):
            acc = pl.matmul_acc(acc, x[:, k * 64 : k * 64 + 64], x[k * 64 : k * 64 + 64, :], init_cond=k == 0)
        {use}
        return y
"""
    from pypto.ir.compiled_program import CompiledProgram

    with pytest.raises((InvalidOperationError, UnsupportedFeatureError), match=message) as error:
        CompiledProgram(pl.parse_program(text), RunConfig())
    assert error.value.span["line"] == 10

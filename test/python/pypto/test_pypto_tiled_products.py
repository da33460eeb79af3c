"""Products that L0 does not hold, batches, chains in Mat, and accumulators of loops. Numbers against numpy."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import InvalidOperationError, UnsupportedFeatureError
from pypto.runtime import RunConfig
from pypto.runtime import run as pypto_run

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


def check_factors_in_l1(platform, batch, m, k, n, transposed):
    """The product of two tiles in L1, of matrices or batches of them, one of which may be stored transposed."""
    shape_a = [*batch, k, m] if transposed == "a" else [*batch, m, k]
    shape_b = [*batch, n, k] if transposed == "b" else [*batch, k, n]
    zeros, batched = [0] * len(shape_a), len(batch) > 0

    @pl.jit
    def product(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            left = pl.load(a, zeros, shape_a, target_memory=pl.Mem.Mat)
            right = pl.load(b, zeros, shape_b, target_memory=pl.Mem.Mat)
            if transposed == "a":
                left = pl.tile.transpose_view(left)
            if transposed == "b":
                right = pl.tile.transpose_view(right)
            if batched:
                c = pl.store(pl.batch_matmul(left, right), zeros, c)
            else:
                c = pl.store(pl.matmul(left, right), zeros, c)
        return c

    a, b, c = numbers(*shape_a), numbers(*shape_b, seed=1), np.zeros([*batch, m, n], np.float32)
    run(product, a, b, c, platform=platform)
    left = np.swapaxes(a, -1, -2) if transposed == "a" else a
    right = np.swapaxes(b, -1, -2) if transposed == "b" else b
    check(c, left.astype(np.float64) @ right)


@both
@pytest.mark.parametrize("transposed", ["", "a", "b"])
@pytest.mark.parametrize("batch", [(2,), (2, 3)])
def test_batches_of_tiles(platform, transposed, batch):
    check_factors_in_l1(platform, batch, 32, 48, 64, transposed)


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
@pytest.mark.parametrize("transposed", ["", "a", "b"])
@pytest.mark.parametrize("batch", [(), (4,), (2, 2)])
def test_factors_that_l1_does_not_hold(platform, transposed, batch):
    """The greater factor takes 1 MiB in all, where L1 has 512 KiB."""
    m, k, n = (32, 64, 4096) if transposed == "b" else (4096, 64, 32)
    m, n = (m, n) if not batch else (m // 4, n) if transposed != "b" else (m, n // 4)
    check_factors_in_l1(platform, batch, m, k, n, transposed)


@both
def test_a_factor_of_tensors_that_l1_does_not_hold(platform):
    """One group of a tensor of four axes: 3 x 512 x 128 numbers, 768 KiB, read behind its first group."""

    @pl.jit
    def product(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            made = pl.matmul(a, b[1], b_trans=True, out_dtype=pl.FP32)
            c = pl.assemble(c, made, [0, 0, 0])
        return c

    a, b, c = numbers(3, 32, 128), numbers(2, 3, 512, 128, seed=1), np.zeros((3, 32, 512), np.float32)
    run(product, a, b, c, platform=platform)
    check(c, a.astype(np.float64) @ np.swapaxes(b[1], 1, 2))


def test_a_factor_that_the_kernel_writes_stays_in_l1():
    """Its parts would be read behind the write, which is too late."""

    @pl.jit
    def product(a: pl.InOut[pl.Tensor], b: pl.Tensor, c: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            left = pl.load(a, [0, 0], [4096, 64], target_memory=pl.Mem.Mat)
            right = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
            corner = pl.load(b, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
            made = pl.matmul(left, right)
            a = pl.store(pl.matmul(right, corner), [0, 0], a)
            c = pl.store(made, [0, 0], c)
        return a, c

    with pytest.raises(InvalidOperationError, match="of L1, which has 524288"):
        run(product, numbers(4096, 64), numbers(64, 32), np.zeros((4096, 32), np.float32))


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


BATCHED = """
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(self, a: pl.Tensor[{of_a}, pl.{dtype}], b: pl.Tensor[{of_b}, pl.{dtype}],
             c: pl.Out[pl.Tensor[{of_c}, pl.{made}]]) -> pl.Tensor[{of_c}, pl.{made}]:
        with pl.at(level=pl.Level.CORE_GROUP):
            acc = pl.create_tensor({of_c}, dtype=pl.{made})
            for kb in pl.{loop}:
                x = pl.slice(a, {of_x}, [{front_x}0, kb * 64])
                y = pl.slice(b, {of_y}, [{front_y}0, kb * 64])
                {step}
            {inside}
        {outside}
        return c
"""
BRANCH = """if kb == 0:
                    acc = pl.matmul(x, y, b_trans=True, out_dtype=pl.{made})
                else:
                    acc = pl.matmul_acc(acc, x, y, b_trans=True)"""


@both
@pytest.mark.parametrize("batch", [(1,), (3,), (2, 2)])
@pytest.mark.parametrize("m, n, dtype", [(32, 48, "INT8"), (32, 48, "FP16"), (272, 144, "INT8")])
@pytest.mark.parametrize("way", ["branch", "init", "escapes"])
def test_an_accumulator_of_batches(platform, batch, m, n, dtype, way):
    """Four steps of 64. The right operand is transposed, and one matrix for all batches behind `branch`."""
    m = min(m, 64) if way == "escapes" else m  # its copy goes through UB
    made, shape = "INT32" if dtype == "INT8" else "FP32", [*batch, m, n]
    batch_y = [] if way == "branch" else [*batch]
    of_b = [*batch_y, n, 256]
    store = f"c = pl.assemble(c, acc, {[0] * len(shape)})"
    text = BATCHED.format(
        of_a=[*batch, m, 256], of_b=of_b, of_c=shape, of_x=[*batch, m, 64], of_y=[*batch_y, n, 64],
        front_x="0, " * len(batch), front_y="0, " * len(batch_y), dtype=dtype, made=made,
        loop="pipeline(4, stage=2)" if way == "branch" else "range(4)",
        step=BRANCH.format(made=made) if way == "branch"
        else "acc = pl.matmul_acc(acc, x, y, b_trans=True, init_cond=kb == 0)",
        inside=store if way != "escapes" else "pass",
        outside=store if way == "escapes" else "",
    )  # fmt: skip
    numpy = np.int8 if dtype == "INT8" else np.float16
    a, b = numbers(*batch, m, 256, dtype=numpy), numbers(*of_b, seed=1, dtype=numpy)
    c = np.zeros(shape, np.int32 if dtype == "INT8" else np.float32)
    pypto_run(pl.parse_program(text), a, b, c, config=RunConfig(platform=platform))
    check(c, a.astype(np.float64) @ np.swapaxes(b, -1, -2))


@pytest.mark.parametrize("between", ["x = pl.assemble(x, pl.matmul(w, w), [0, 0])", ""])
def test_an_accumulator_whose_operand_is_written_is_refused(between):
    """Its parts are computed where it is stored: behind the write, or while its target is written."""
    text = f"""
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.InOut[pl.Tensor[[256, 256], pl.FP32]], w: pl.Tensor[[64, 64], pl.FP32],
               y: pl.Out[pl.Tensor[[256, 256], pl.FP32]]):
        acc = pl.create_tensor([256, 256], dtype=pl.FP32)
        for k in pl.range(4):
            acc = pl.matmul_acc(acc, x[:, k * 64 : k * 64 + 64], x[k * 64 : k * 64 + 64, :], init_cond=k == 0)
        {between or "pass"}
        {"y = pl.assemble(y, acc, [0, 0])" if between else "x = pl.assemble(x, acc, [0, 0])"}
        return y
"""
    from pypto.ir.compiled_program import CompiledProgram

    message = "an operand of a product .* is written before" if between else "not stored to one of its operands"
    with pytest.raises(InvalidOperationError, match=message):
        CompiledProgram(pl.parse_program(text), RunConfig())


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

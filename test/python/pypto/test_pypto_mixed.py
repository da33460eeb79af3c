"""Scopes and kernels of products and vector operations as one task. Numbers against float64, bits against the same
statements in scopes of their own."""

import numpy as np
import pypto.language as pl
import pytest
from pto_mlir.runtime import InferenceSession
from pypto.ir.compiled_program import compile_to
from pypto.runtime import RunConfig, benchmark, dumps

both = pytest.mark.parametrize("platform", ["a2a3", "a5"])


def numbers(*shape, seed=0, dtype=np.float16):
    return (np.random.default_rng(seed).standard_normal(shape) / 4).astype(dtype)


def zeros(*shape):
    return np.zeros(shape, np.float32)


def run(kernel, *arrays, platform="a2a3"):
    """In the checked mode, which reports cores that race."""
    kernel(*arrays, config=RunConfig(platform=platform, mode="checked"))
    return arrays[-1]


def launches(kernel, *arrays, platform="a2a3"):
    return dumps.launches_of(kernel.compile(*arrays, config=RunConfig(platform=platform)))["launches"]


def wide(*arrays):
    return [each.astype(np.float64) for each in arrays]


@pl.jit
def summed(x: pl.Tensor, w: pl.Tensor, r: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        total = pl.full([16, 64], dtype=pl.FP32, value=0.0)
        for k in pl.range(8):
            total = pl.add(total, pl.matmul(x[:, k * 32 : k * 32 + 32], w[k * 32 : k * 32 + 32, :], out_dtype=pl.FP32))
        y[:] = pl.add(total, r)
    return y


@both
def test_a_loop_of_both_is_one_launch(platform):
    x, w, r = numbers(16, 256), numbers(256, 64, seed=1), numbers(16, 64, seed=2, dtype=np.float32)
    y = run(summed, x, w, r, zeros(16, 64), platform=platform)
    a, b, c = wide(x, w, r)
    np.testing.assert_allclose(y, a @ b + c, rtol=1e-5, atol=1e-5)
    assert len(launches(summed, x, w, r, y, platform=platform)) == 1


@pl.jit
def feed_forward(x: pl.Tensor, up: pl.Tensor, down: pl.Tensor, y: pl.InOut[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        h = pl.cast(pl.exp(pl.matmul(x, up, out_dtype=pl.FP32)), target_type=pl.FP16)
        for n in pl.range(4):
            before = y[:, n * 32 : n * 32 + 32]
            y[:, n * 32 : n * 32 + 32] = pl.add(before, pl.matmul(h, down[:, n * 32 : n * 32 + 32], out_dtype=pl.FP32))
    return y


@pl.jit
def feed_forward_apart(x: pl.Tensor, up: pl.Tensor, down: pl.Tensor, y: pl.InOut[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        z = pl.matmul(x, up, out_dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        h = pl.cast(pl.exp(z), target_type=pl.FP16)
    for n in pl.range(4):
        with pl.at(level=pl.Level.CORE_GROUP):
            p = pl.matmul(h, down[:, n * 32 : n * 32 + 32], out_dtype=pl.FP32)
        with pl.at(level=pl.Level.CORE_GROUP):
            y[:, n * 32 : n * 32 + 32] = pl.add(y[:, n * 32 : n * 32 + 32], p)
    return y


@both
def test_values_go_there_and_back(platform):
    x, up, down = numbers(32, 64), numbers(64, 48, seed=1), numbers(48, 128, seed=2)
    start = numbers(32, 128, seed=3, dtype=np.float32)
    y = run(feed_forward, x, up, down, start.copy(), platform=platform)
    a, b, c, d = wide(x, up, down, start)
    np.testing.assert_allclose(y, np.exp(a @ b) @ c + d, rtol=4e-3, atol=4e-3)
    apart = run(feed_forward_apart, x, up, down, start.copy(), platform=platform)
    np.testing.assert_array_equal(y, apart)
    config = RunConfig(platform=platform)
    arrays = (x, up, down, start)
    one, several = (
        benchmark(each.compile(*arrays, config=config), arrays, rounds=1, warmup=0).device_wall_us[0]
        for each in (feed_forward, feed_forward_apart)
    )
    assert one < 0.6 * several


@pl.jit
def tall(x: pl.Tensor, w: pl.Tensor, r: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        z = pl.matmul(x, w, out_dtype=pl.FP32)
        y[:] = pl.mul(pl.add(z, r), pl.col_max(r))  # no core has all rows of a half
    return y


@both
@pytest.mark.parametrize("rows, count", [(32, 1), (128, 1), (500, 2)])
def test_what_no_core_holds_is_several_launches(platform, rows, count):
    x, w, r = numbers(rows, 64), numbers(64, 48, seed=1), numbers(rows, 48, seed=2, dtype=np.float32)
    y = run(tall, x, w, r, zeros(rows, 48), platform=platform)
    a, b, c = wide(x, w, r)
    np.testing.assert_allclose(y, (a @ b + c) * c.max(0), rtol=1e-4, atol=1e-4)
    assert len(launches(tall, x, w, r, y, platform=platform)) == count


@pl.jit
def whole_columns(x: pl.Tensor, w: pl.Tensor, r: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        z = pl.matmul(x, w, out_dtype=pl.FP32)
        y[:] = pl.mul(pl.add(z, r), pl.col_max(r))
    return y


@both
def test_halves_are_no_operands_of_what_needs_all_rows(platform):
    x, w, r = numbers(64, 64), numbers(64, 48, seed=1), numbers(64, 48, seed=2, dtype=np.float32)
    y = run(whole_columns, x, w, r, zeros(64, 48), platform=platform)
    a, b, c = wide(x, w, r)
    np.testing.assert_allclose(y, (a @ b + c) * c.max(0), rtol=1e-4, atol=1e-4)
    assert len(launches(whole_columns, x, w, r, y, platform=platform)) == 1


@pl.jit.incore
def half_square(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    y[:] = pl.cast(pl.mul(pl.matmul(x, x, out_dtype=pl.FP32), 0.5), target_type=pl.FP16)
    return y


@pl.jit
def in_turn(x: pl.Tensor, y: pl.InOut[pl.Tensor]):
    y = half_square(x, y)
    for _ in pl.range(2):
        y = half_square(y, y)
    return y


def squared(x):
    return ((x.astype(np.float32) @ x.astype(np.float32)) * 0.5).astype(np.float16)


@both
def test_tensors_that_both_cores_share_are_ordered(platform):
    """From its second launch on the kernel writes what it reads, so it is several."""
    x = numbers(32, 32)
    y = run(in_turn, x, np.zeros((32, 32), np.float16), platform=platform)
    np.testing.assert_allclose(y, squared(squared(squared(x))), rtol=4e-3, atol=1e-3)
    kernels = [each["kernel"] for each in launches(in_turn, x, y, platform=platform)]
    assert len(kernels) == 5 and len(set(kernels)) == 3


@pl.jit
def computed(x: pl.Tensor, w: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        z = pl.exp(pl.matmul(x, w, out_dtype=pl.FP32))
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.add(z, 1.0)
    return y


@both
def test_what_it_computes_is_there_behind_it(platform):
    x, w = numbers(48, 64), numbers(64, 32, seed=1)
    y = run(computed, x, w, zeros(48, 32), platform=platform)
    a, b = wide(x, w)
    np.testing.assert_allclose(y, np.exp(a @ b) + 1, rtol=1e-5)
    assert len(launches(computed, x, w, y, platform=platform)) == 2


@pl.jit
def chosen(a: pl.Tensor, c: pl.InOut[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(4):
            if i % 2 == 1:
                part = a[i * 16 : i * 16 + 16, :]
                c[i * 16 : i * 16 + 16, :] = pl.add(pl.matmul(part, a), part)
    return c


@both
def test_a_branch_of_both(platform):
    a = numbers(64, 64, dtype=np.float32)
    c = run(chosen, a, zeros(64, 64), platform=platform)
    (b,) = wide(a)
    rows = np.arange(64) // 16 % 2 == 1
    np.testing.assert_allclose(c, np.where(rows[:, None], b @ b + b, 0), rtol=1e-5, atol=1e-5)


@pl.jit
def in_blocks(x: pl.Tensor, w: pl.Tensor, y: pl.InOut[pl.Tensor]):
    for block in pl.spmd(5):
        total = pl.full([16, 64], dtype=pl.FP32, value=1.0)
        for k in pl.range(4):
            part = x[block * 16 : block * 16 + 16, k * 32 : k * 32 + 32]
            total = pl.add(total, pl.matmul(part, w[k * 32 : k * 32 + 32, :], out_dtype=pl.FP32))
        y[block * 16 : block * 16 + 16, :] = total
    return y


@both
def test_each_block_is_one_launch(platform):
    x, w = numbers(80, 128), numbers(128, 64, seed=1)
    y = run(in_blocks, x, w, zeros(80, 64), platform=platform)
    a, b = wide(x, w)
    np.testing.assert_allclose(y, a @ b + 1, rtol=1e-5, atol=1e-5)
    assert len(launches(in_blocks, x, w, y, platform=platform)) == 5


@pl.jit.incore
def tile_of(x: pl.Tensor, w: pl.Tensor, first: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor]):
    total = pl.full([16, 32], dtype=pl.FP32, value=0.0)
    for k in pl.range(2):
        total = pl.add(
            total, pl.matmul(x[:, k * 64 : k * 64 + 64], w[k * 64 : k * 64 + 64, first : first + 32], out_dtype=pl.FP32)
        )
    y[:, first : first + 32] = total
    return y


@pl.jit
def of_kernels(x: pl.Tensor, w: pl.Tensor, y: pl.Out[pl.Tensor]):
    for n in pl.range(6):
        y = tile_of(x, w, n * 32, y)
    return y


@both
def test_a_kernel_of_both_is_one_launch(platform):
    x, w = numbers(16, 128), numbers(128, 192, seed=1)
    y = run(of_kernels, x, w, zeros(16, 192), platform=platform)
    a, b = wide(x, w)
    np.testing.assert_allclose(y, a @ b, rtol=1e-5, atol=1e-5)
    assert len(launches(of_kernels, x, w, y, platform=platform)) == 6


@pl.jit
def as_many(count: pl.Tensor, x: pl.Tensor, w: pl.Tensor, y: pl.InOut[pl.Tensor]):
    for i in pl.range(pl.tensor.read(count, [0])):
        with pl.at(level=pl.Level.CORE_GROUP):
            part = x[i * 16 : i * 16 + 16, :]
            y[i * 16 : i * 16 + 16, :] = pl.exp(pl.matmul(part, w, out_dtype=pl.FP32))
    return y


@both
def test_a_run_decides_how_often(platform):
    x, w = numbers(96, 64), numbers(64, 64, seed=1)
    y = run(as_many, np.array([5], np.int32), x, w, zeros(96, 64), platform=platform)
    a, b = wide(x, w)
    np.testing.assert_allclose(y[:80], np.exp(a @ b)[:80], rtol=1e-5)
    assert not y[80:].any()


@pl.jit.incore
def swish_block(x: pl.Tensor, gate: pl.Tensor, down: pl.Tensor, first: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor]):
    """A loop carries a tile, and what is behind it reads and writes y."""
    total = pl.full([16, 64], dtype=pl.FP32, value=0.0)
    for k in pl.range(4):
        part = gate[k * 32 : k * 32 + 32, first : first + 64]
        total = pl.add(total, pl.matmul(x[:, k * 32 : k * 32 + 32], part, out_dtype=pl.FP32))
    h = pl.cast(pl.mul(total, pl.recip(pl.add(pl.exp(pl.neg(total)), 1.0))), target_type=pl.FP16)
    for n in pl.range(2):
        before = y[:, n * 64 : n * 64 + 64]
        w = down[first : first + 64, n * 64 : n * 64 + 64]
        y = pl.assemble(y, pl.add(before, pl.matmul(h, w, out_dtype=pl.FP32)), [0, n * 64])
    return y


@pl.jit
def swish(x: pl.Tensor, gate: pl.Tensor, down: pl.Tensor, y: pl.InOut[pl.Tensor]):
    for b in pl.range(3):
        y = swish_block(x, gate, down, b * 64, y)
    return y


@both
def test_halves_are_carried(platform):
    x, gate, down = numbers(16, 128), numbers(128, 192, seed=1), numbers(192, 128, seed=2)
    start = numbers(16, 128, seed=3, dtype=np.float32)
    y = run(swish, x, gate, down, start.copy(), platform=platform)
    a, b, c, d = wide(x, gate, down, start)
    z = a @ b
    np.testing.assert_allclose(y, (z / (1 + np.exp(-z))) @ c + d, rtol=4e-3, atol=4e-3)
    assert len(launches(swish, x, gate, down, start, platform=platform)) == 3


@pl.jit
def sometimes(x: pl.Tensor, w: pl.Tensor, r: pl.Tensor, y: pl.Out[pl.Tensor]):
    """Branches and a loop in a loop hand on halves; a row that both cores need is carried whole."""
    with pl.at(level=pl.Level.CORE_GROUP):
        total = pl.full([32, 64], dtype=pl.FP32, value=0.0)
        row = pl.full([1, 64], dtype=pl.FP32, value=1.0)
        for k in pl.range(4):
            product = pl.matmul(x[:, k * 32 : k * 32 + 32], w[k * 32 : k * 32 + 32, :], out_dtype=pl.FP32)
            if k % 2 == 0:
                total = pl.add(total, product)
            else:
                total = pl.sub(total, pl.mul(product, 2.0))
            for _ in pl.range(k):
                total = pl.mul(total, 0.5)
            row = pl.add(row, 1.0)
        y[:] = pl.add(pl.col_expand_mul(total, row), r)
    return y


@both
def test_branches_hand_on_halves(platform):
    x, w, r = numbers(32, 128), numbers(128, 64, seed=1), numbers(32, 64, seed=2, dtype=np.float32)
    y = run(sometimes, x, w, r, r.copy(), platform=platform)
    a, b, c = wide(x, w, r)
    total = 0
    for k in range(4):
        product = a[:, k * 32 : k * 32 + 32] @ b[k * 32 : k * 32 + 32]
        total = (total + product if k % 2 == 0 else total - 2 * product) / 2**k
    np.testing.assert_allclose(y, total * 5 + c, rtol=1e-5, atol=1e-5)
    assert len(launches(sometimes, x, w, r, y, platform=platform)) == 1


@both
def test_blocks_change_no_bit(platform, tmp_path):
    x, w, r = numbers(32, 128), numbers(128, 64, seed=1), numbers(32, 64, seed=2, dtype=np.float32)
    program = sometimes.compile(x, w, r, r, config=RunConfig(platform=platform)).program
    y = run(sometimes, x, w, r, r.copy(), platform=platform)
    for blocks in (24, 2, 1):
        file = tmp_path / f"{blocks}.pmodel"
        compile_to(program, file, {"a2a3": "a3"}.get(platform, platform), blocks)
        (each,) = InferenceSession(str(file)).run(None, {"x": x, "w": w, "r": r})
        np.testing.assert_array_equal(each, y)


@pl.jit
def reshaped(x: pl.Tensor, w: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        a = pl.reshape(x, [32, 64])
        y[:] = pl.matmul(a, w, out_dtype=pl.FP32)
    return y


@pl.jit
def reshaped_operand(x: pl.Tensor, w: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.exp(pl.matmul(pl.reshape(x, [32, 64]), w, out_dtype=pl.FP32))
    return y


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_a_tensor_in_global_memory_is_reshaped_without_work(platform):
    rng = np.random.default_rng(7)
    x, w = (rng.standard_normal(shape).astype(np.float32) / 8 for shape in ((16, 128), (64, 32)))
    y = np.zeros((32, 32), np.float32)
    assert len(launches(reshaped, x, w, y, platform=platform)) == 1
    product = x.reshape(32, 64).astype(np.float64) @ w
    np.testing.assert_allclose(run(reshaped, x, w, y, platform=platform), product, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(run(reshaped_operand, x, w, y, platform=platform), np.exp(product), rtol=1e-5, atol=1e-5)


@pl.jit
def named_operand(operand: pl.Tensor, w: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.exp(pl.matmul(operand, pl.reshape(w, [64, 32]), out_dtype=pl.FP32))
    return y


@pl.jit
def named_product(x: pl.Tensor, w: pl.Tensor, product: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(2):
            y[i * 16 : i * 16 + 16, :] = pl.add(
                product[i * 16 : i * 16 + 16, :],
                pl.matmul(x[i * 16 : i * 16 + 16, :], pl.reshape(w, [64, 32]), out_dtype=pl.FP32),
            )
    return y


@both
def test_parameters_of_kernels_have_names_of_their_own(platform):
    """What the compiler takes out of an expression is called operand or product."""
    x, w, r = (numbers(*shape, seed=8, dtype=np.float32) for shape in ((32, 64), (32, 64), (32, 32)))
    product = x.astype(np.float64) @ w.reshape(64, 32)
    for kernel, inputs, expected in (
        (named_operand, (x, w), np.exp(product)),
        (named_product, (x, w, r), product + r),
    ):
        y = zeros(32, 32)
        for launch in launches(kernel, *inputs, y, platform=platform):
            names = [tensor["name"] for tensor in launch["tensors"]]
            assert len(set(names)) == len(names)
        np.testing.assert_allclose(run(kernel, *inputs, y, platform=platform), expected, rtol=1e-5, atol=1e-5)

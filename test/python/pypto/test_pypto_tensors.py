"""Operations on tensors inside scopes and kernels, against numpy."""

import ml_dtypes
import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import InvalidOperationError, UndefinedVariableError, UnsupportedFeatureError
from pypto.runtime import RunConfig
from random_numbers import numbers


def zeros(*shape):
    return np.zeros(shape, np.float32)


@pl.jit
def chain(x: pl.Tensor, y: pl.Out[pl.Tensor], out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.add(pl.mul(x, 2.0), x)
    with pl.at(level=pl.Level.CORE_GROUP):
        out = pl.assemble(out, pl.exp(y), [0, 0])
    return y, out


@pl.jit
def unnamed(x: pl.Tensor, y: pl.InOut[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.assemble(y, pl.add(x, x), [8, 0])
        pl.assemble(y, pl.exp(x), [24, 0])
    return y


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_a_window_is_stored_whose_result_has_no_name(platform):
    x, y = numbers(8, 64), numbers(32, 64, seed=1)
    expected = y.copy()
    expected[8:16], expected[24:] = x + x, np.exp(x.astype(np.float64))
    unnamed(x, y, config=RunConfig(platform=platform))
    np.testing.assert_allclose(y, expected, rtol=1e-5)


def test_windows_are_stored():
    x, y, out = numbers(32, 64), zeros(32, 64), zeros(32, 64)
    chain(x, y, out)
    np.testing.assert_array_equal(y, x * 2 + x)
    np.testing.assert_allclose(out, np.exp(y.astype(np.float64)), rtol=1e-6)


@pl.jit
def softmax(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        shifted = pl.exp(pl.sub(x, pl.row_max(x)))
        total = pl.row_sum(shifted)
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.row_expand_div(shifted, total)
    return y


def test_what_a_scope_computes_is_there_behind_it():
    x, y = numbers(32, 64), zeros(32, 64)
    softmax(x, y)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-7)


@pl.jit
def norm(x: pl.Tensor, gamma: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        mean = pl.mul(pl.row_sum(pl.mul(x, x)), 1.0 / 64)
        y[:] = pl.mul(pl.div(x, pl.sqrt(pl.add(mean, 1e-5))), gamma)
    return y


def test_columns_and_rows_are_repeated():
    x, gamma, y = numbers(32, 64), numbers(1, 64, seed=1), zeros(32, 64)
    norm(x, gamma, y)
    wide = x.astype(np.float64)
    expected = wide / np.sqrt((wide * wide).mean(1, keepdims=True) + 1e-5) * gamma
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


@pl.jit
def loops(x: pl.Tensor, y: pl.Out[pl.Tensor], flip: pl.Scalar[pl.INT32]):
    with pl.at(level=pl.Level.CORE_GROUP):
        acc = pl.full([8, 32], dtype=pl.FP32, value=0.0)
        for i in pl.range(4):
            acc = pl.add(acc, x[i * 8 : i * 8 + 8, :])
        if flip > 0:
            acc = pl.neg(acc)
        y[0:8, :] = acc
        y[8:16, :] = x[0:8, :]
    return y


@pytest.mark.parametrize("flip", [0, 1])
def test_loops_carry_what_they_compute(flip):
    x, y = numbers(32, 32), zeros(16, 32)
    loops(x, y, flip)
    total = zeros(8, 32)
    for i in range(4):
        total = total + x[i * 8 : i * 8 + 8]
    np.testing.assert_array_equal(y, np.concatenate([-total if flip else total, x[:8]]))


@pl.jit
def product(a: pl.Tensor, b: pl.Tensor, bias: pl.Tensor, c: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        acc = pl.matmul(a, b, out_dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        c[:] = pl.add(acc, bias)
    return c


@pytest.mark.parametrize("m, k, n", [(64, 64, 64), (128, 256, 128), (16, 512, 32), (32, 48, 64)])
def test_products_in_steps_along_k(m, k, n):
    a, b, bias, c = numbers(m, k), numbers(k, n, seed=1), numbers(m, n, seed=2), zeros(m, n)
    product(a, b, bias, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b + bias, rtol=1e-4, atol=1e-4)


@pl.jit
def split_k(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        c = pl.assemble(c, pl.full([64, 64], dtype=pl.FP32, value=0.0), [0, 0])
    for i in pl.parallel(4):
        with pl.at(level=pl.Level.CORE_GROUP):
            part = pl.matmul(a[:, i * 64 : i * 64 + 64], b[i * 64 : i * 64 + 64, :], out_dtype=pl.FP32)
            c = pl.assemble(c, part, [0, 0], atomic=pl.AtomicType.Add)
    return c


def test_atomic_sums_of_several_launches():
    a, b, c = numbers(64, 256), numbers(256, 64, seed=1), np.full((64, 64), 5, np.float32)
    split_k(a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


@pl.jit
def halves(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(2):
            begin = i * 64
            low = x[:, begin : begin + 32]
            high = x[:, i * 64 + 32 : 64 * i + 64]
            y[:, i * 32 : (i + 1) * 32] = pl.sub(high, low)
    return y


def test_extents_of_slices_are_differences():
    x, y = numbers(16, 128), zeros(16, 64)
    halves(x, y)
    parts = x.reshape(16, 2, 2, 32)
    np.testing.assert_array_equal(y, (parts[:, :, 1] - parts[:, :, 0]).reshape(16, 64))


@pl.jit
def two_loops(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        acc = pl.full([16, 32], dtype=pl.FP32, value=0.0)
        for i in pl.range(4):
            part = x[:, i * 32 : i * 32 + 32]
            acc = pl.add(acc, part)
        for i in pl.range(4):
            part = x[:, i * 32 : i * 32 + 32]
            y[:, i * 32 : i * 32 + 32] = pl.sub(acc, part)
    return y


@pl.jit
def view_behind_a_loop(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(4):
            part = x[:, i * 32 : i * 32 + 32]
            y[:, 0:32] = part
        y[:, 0:32] = part


def test_a_view_of_a_loop_is_not_its_tensor():
    x, y = numbers(16, 128), zeros(16, 128)
    two_loops(x, y)
    total = x[:, :32] + x[:, 32:64] + x[:, 64:96] + x[:, 96:]
    np.testing.assert_allclose(y, np.tile(total, 4) - x, rtol=1e-5, atol=1e-6)
    with pytest.raises(UndefinedVariableError, match="Undefined variable 'part'"):
        view_behind_a_loop(x, y)


@pl.jit.incore
def scaled(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    y[:] = pl.mul(x, 3.0)
    return y


@pl.jit
def calls(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    return scaled(x, y)


def test_kernels_compute_with_tensors():
    x, y = numbers(16, 32), zeros(16, 32)
    calls(x, y)
    np.testing.assert_array_equal(y, x * 3)


@pl.jit
def fused(a: pl.Tensor, b: pl.Tensor, bias: pl.Tensor, c: pl.Out[pl.Tensor]):
    with pl.at(
        level=pl.Level.CORE_GROUP,
        optimizations=[pl.split(pl.SplitMode.UP_DOWN), pl.cross_core_slot(slot_num=2)],
        name_hint="fused",
    ):
        rows = 32 * 2
        part = b[:, 0:rows]
        h = pl.relu(pl.add(pl.matmul(a, part, out_dtype=pl.FP32), bias))
        c[:] = pl.add(pl.matmul(h, a, out_dtype=pl.FP32), bias)
    return c


def test_products_and_vector_operations_in_one_scope():
    a, b, bias, c = numbers(64, 64), numbers(64, 128, seed=1), numbers(64, 64, seed=2), zeros(64, 64)
    fused(a, b, bias, c)
    h = np.maximum(a.astype(np.float64) @ b[:, :64] + bias, 0)
    np.testing.assert_allclose(c, h @ a + bias, rtol=1e-4, atol=1e-3)


@pl.jit
def mixed(a: pl.Tensor, c: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(2):
            half = a[i * 32 : i * 32 + 32, :]
            c[i * 32 : i * 32 + 32, :] = pl.add(pl.matmul(half, a), half)


@pl.jit
def summed(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        total = pl.mul(b, 2.0)
        for i in pl.range(2):
            for k in pl.range(2):
                part = a[i * 32 : i * 32 + 32, k * 32 : k * 32 + 32]
                more = pl.add(pl.matmul(pl.add(part, 1.0), b), 1.0)
                total = pl.add(total, more)
            c[i * 32 : i * 32 + 32, :] = total


@pl.jit
def blocks(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    for block in pl.spmd(2):
        row = block * 32
        c[row : row + 32, :] = pl.add(pl.matmul(pl.add(a[row : row + 32, 0:32], 1.0), b), 1.0)
    return c


def test_products_and_vector_operations_in_loops_and_blocks():
    a, b, c = numbers(64, 64), numbers(32, 32, seed=1), zeros(64, 32)
    summed(a, b, c)
    total, wide = 2.0 * b, a.astype(np.float64) + 1
    for i in range(2):
        for k in range(2):
            total = total + wide[i * 32 : i * 32 + 32, k * 32 : k * 32 + 32] @ b + 1
        np.testing.assert_allclose(c[i * 32 : i * 32 + 32], total, rtol=1e-4, atol=1e-3)
    c[:] = 0
    blocks(a, b, c)
    np.testing.assert_allclose(c, wide[:, :32] @ b + 1, rtol=1e-4, atol=1e-3)
    a, c = numbers(64, 64), zeros(64, 64)
    mixed(a, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ a + a, rtol=1e-4, atol=1e-3)


@pl.jit
def chosen(a: pl.Tensor, c: pl.InOut[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(2):
            if i == 1:
                half = c[i * 32 : i * 32 + 32, :]
                c[i * 32 : i * 32 + 32, :] = pl.add(pl.matmul(half, a), half)


@pl.jit
def too_large(a: pl.Tensor, c: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for _ in pl.range(2):
            square = pl.matmul(a, a)
            c[:] = pl.matmul(square, a)


@pl.jit
def smaller_left(a: pl.Tensor, c: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        c[:] = pl.sub(pl.row_sum(a), a)


@pytest.mark.parametrize(
    "entry, size, message",
    [
        (chosen, 64, "in one scope are not lowered yet"),
        (too_large, 256, "greater than L0C; store it"),
        (smaller_left, 64, "sub of a smaller tensor by a greater one"),
    ],
)
def test_what_is_refused_names_its_line(entry, size, message):
    with pytest.raises((InvalidOperationError, UnsupportedFeatureError), match=message) as found:
        entry(numbers(size, size), zeros(size, size))
    assert found.value.span["filename"] == __file__ and found.value.span["line"] > 1


@pl.jit
def in_both_precisions(x: pl.Tensor, h: pl.Tensor, row: pl.Tensor, y: pl.Out[pl.Tensor], z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.add(x, h)
        z[:] = pl.mul(pl.sub(h, x), row)
    return y, z


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
@pytest.mark.parametrize("half", [np.float16, ml_dtypes.bfloat16])
def test_half_precision_beside_single_is_widened(half, platform):
    rng = np.random.default_rng(0)
    x, h, row = (rng.standard_normal(shape).astype(np.float32) for shape in ((16, 64), (16, 64), (1, 64)))
    h, row = h.astype(half), row.astype(half)
    y, z = np.zeros((16, 64), np.float32), np.zeros((16, 64), np.float32)
    in_both_precisions(x, h, row, y, z, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y, x + h.astype(np.float32))
    np.testing.assert_array_equal(z, (h.astype(np.float32) - x) * row.astype(np.float32))

"""Orchestrators: several scopes, calls of kernels, tensors made on the way, views. Numbers against numpy."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import InvalidOperationError, ParserTypeError, UnsupportedFeatureError
from random_numbers import numbers


def zeros(*shape):
    return np.zeros(shape, np.float32)


@pl.jit
def two_scopes(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    t = pl.create_tensor([32, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="doubles"):
        a = pl.load(x, [0, 0], [32, 64])
        t = pl.store(pl.add(a, a), [0, 0], t)
    with pl.at(level=pl.Level.CORE_GROUP):
        b = pl.load(t, [0, 0], [32, 64])
        pl.store(pl.mul(b, b), [0, 0], y)
    return y


def test_a_tensor_between_two_scopes():
    x, y = numbers(32, 64), zeros(32, 64)
    two_scopes(x, y)
    np.testing.assert_array_equal(y, (x + x) * (x + x))


@pl.jit.incore
def add_into(a: pl.Tensor, b: pl.Tensor, out: pl.Out[pl.Tensor]):
    h, w = a.shape
    pl.store(pl.add(pl.load(a, [0, 0], [h, w]), pl.load(b, [0, 0], [h, w])), [0, 0], out)
    return out


@pl.jit.incore
def accumulate(acc: pl.InOut[pl.Tensor], x: pl.Tensor, factor: pl.Scalar[pl.FP32], row: pl.Scalar[pl.INDEX]):
    w = acc.shape[1]
    t = pl.mul(pl.load(x, [row, 0], [8, w]), factor)
    acc = pl.store(pl.add(pl.load(acc, [0, 0], [8, w]), t), [0, 0], acc)
    return acc


@pl.jit
def calls(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    s = pl.create_tensor([16, 32], dtype=pl.FP32)
    s = add_into(a, b, s)
    s2 = pl.create_tensor([16, 32], dtype=pl.FP32)
    add_into(out=s2, b=s, a=s)
    c = add_into(s2, a, c)
    return c


def test_calls_of_one_kernel():
    a, b, c = numbers(16, 32), numbers(16, 32, seed=1), zeros(16, 32)
    calls(a, b, c)
    np.testing.assert_array_equal(c, ((a + b) + (a + b)) + a)
    program = calls.lower(a, b, c)
    assert [f.name for f in _functions(program)] == ["add_into", "calls"]


def _functions(program):
    held = program.functions
    return list(held.values()) if hasattr(held, "values") else list(held)


@pl.jit
def sums(x: pl.Tensor, acc: pl.InOut[pl.Tensor]):
    for i in pl.range(4):
        acc = accumulate(acc, x, 0.5, i * 8)
    return acc


def test_a_loop_of_launches_with_scalars():
    x, acc = numbers(32, 64), numbers(8, 64, seed=2)
    expected = acc.copy()
    for i in range(4):
        expected = expected + x[i * 8 : i * 8 + 8] * np.float32(0.5)
    sums(x, acc)
    np.testing.assert_array_equal(acc, expected)


@pl.jit
def columns(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    for i in pl.range(2):
        part = pl.slice(x, [16, 32], [0, i * 32])
        to = y[:, (1 - i) * 32 : (1 - i) * 32 + 32]
        with pl.at(level=pl.Level.CORE_GROUP):
            pl.store(pl.neg(pl.load(part, [0, 0], [16, 32])), [0, 0], to)
    return y


def test_strided_views():
    x, y = numbers(16, 64), zeros(16, 64)
    columns(x, y)
    np.testing.assert_array_equal(y, -np.concatenate([x[:, 32:], x[:, :32]], axis=1))


@pl.jit
def views_of_one_buffer(x: pl.InOut[pl.Tensor]):
    flat = pl.reshape(x, [4, 8, 32])
    for i in pl.range(1, 4):
        with pl.at(level=pl.Level.CORE_GROUP):
            before = pl.load(flat, [i - 1, 0, 0], [1, 8, 32])
            here = pl.load(x, [i * 8, 0], [8, 32])
            x = pl.store(pl.add(pl.reshape(before, [8, 32]), here), [i * 8, 0], x)
    return x


def test_views_of_one_buffer_are_ordered():
    x = numbers(32, 32)
    expected = np.cumsum(x.reshape(4, 8, 32), axis=0, dtype=np.float32).reshape(32, 32)
    views_of_one_buffer(x)
    np.testing.assert_array_equal(x, expected)


@pl.jit.inline
def plus_one(a: pl.Tensor, c: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.add(pl.load(a, [0, 0], [16, 32]), ONE), [0, 0], c)
    return c


ONE = 1.0


@pl.jit
def inlined(a: pl.Tensor, c: pl.Out[pl.Tensor]):
    t = pl.create_tensor([16, 32], dtype=pl.FP32)
    t = plus_one(a, t)
    c = plus_one(t, c)
    return c


def test_inline_functions_are_spliced(monkeypatch):
    a, c = numbers(16, 32), zeros(16, 32)
    inlined(a, c)
    np.testing.assert_array_equal(c, a + np.float32(1) + np.float32(1))
    monkeypatch.setitem(globals(), "ONE", 2.0)  # a value around the callee is part of the key
    inlined(a, c)
    np.testing.assert_array_equal(c, a + np.float32(2) + np.float32(2))


@pl.jit
def branches(x: pl.Tensor, y: pl.Out[pl.Tensor], n: pl.Scalar[pl.INT32]):
    for i in pl.range(4):
        if i < n:
            with pl.at(level=pl.Level.CORE_GROUP):
                pl.store(pl.load(x, [i * 8, 0], [8, 32]), [i * 8, 0], y)
    return y


def test_branches_and_what_is_not_written():
    x, y = numbers(32, 32), np.full((32, 32), 7, np.float32)
    branches(x, y, 2)
    np.testing.assert_array_equal(y[:16], x[:16])
    assert (y[16:] == 7).all()


M, N = pl.dynamic("M"), pl.dynamic("N")


@pl.jit
def any_size(x: pl.Tensor[[M, N], pl.FP32], y: pl.Out[pl.Tensor[[M, N * 2], pl.FP32]]):
    for i in pl.range(M // 8):
        with pl.at(level=pl.Level.CORE_GROUP):
            t = pl.load(x, [i * 8, 0], [8, N])
            pl.store(t, [i * 8, 0], y)
            pl.store(pl.neg(t), [i * 8, N], y)
    return y


@pl.jit
def bound(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    x.bind_dynamic(0, M)
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.load(x, [0, 0], [M, 32]), [0, 0], y)


def test_dynamic_extents_are_those_of_the_arguments():
    for m, n in ((16, 32), (24, 64)):
        x, y = numbers(m, n), zeros(m, 2 * n)
        any_size(x, y)
        np.testing.assert_array_equal(y, np.concatenate([x, -x], axis=1))
    with pytest.raises(ValueError, match="argument y: expects shape \\[16, 64\\], not \\[16, 32\\]"):
        any_size(numbers(16, 32), zeros(16, 32))
    x, y = numbers(16, 32), zeros(16, 32)
    bound(x, y)
    np.testing.assert_array_equal(y, x)


@pl.jit
def same(x: pl.Tensor[[M, 32], pl.FP32], y: pl.Out[pl.Tensor[[M, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.load(x, [0, 0], [N, 32]), [0, 0], y)


def test_extents_without_a_size():
    with pytest.raises(ValueError, match="same: argument y: M is 8 here and 16 elsewhere"):
        same(numbers(16, 32), zeros(8, 32))
    with pytest.raises(UnsupportedFeatureError, match="N has no size here"):
        same(numbers(16, 32), zeros(16, 32))


@pl.jit
def transposed(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    t = pl.reshape(pl.transpose(x, 0, 1), [16, 64])
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.load(t, [0, 0], [16, 64]), [0, 0], y)


@pl.jit
def outside(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    z = pl.slice(x, [16, 32], [8, 0])
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.load(z, [0, 0], [16, 32]), [0, 0], y)


@pl.jit
def misplaced(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    z = pl.add(x, x)
    y = add_into(z, x, y)  # noqa: F841


@pl.jit
def wrong_shape(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    t = pl.create_tensor([16, 16], dtype=pl.FP32)
    y = fixed(t, y)  # noqa: F841


@pl.jit.incore
def fixed(x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor]):
    pl.store(pl.load(x, [0, 0], [16, 32]), [0, 0], y)


@pl.jit.incore
def forever(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    pl.store(pl.load(x, [0, 0], [16, 32]), [0, 0], y)
    forever(x, y)


@pl.jit
def recursion(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    forever(x, y)


@pl.jit
def many(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    for i in pl.range(1 << 40):
        fixed(x, y)


@pytest.mark.parametrize(
    "entry, error, message",
    [
        (transposed, InvalidOperationError, "row-major"),
        (outside, InvalidOperationError, "not inside its tensor: 8 \\+ 16 of 16"),
        (misplaced, UnsupportedFeatureError, "pl.add outside a scope"),
        (wrong_shape, ParserTypeError, "fixed: argument x: expects shape \\[16, 32\\], not \\[16, 16\\]"),
        (recursion, UnsupportedFeatureError, "forever calls itself"),
        (many, InvalidOperationError, "run more than|launches more than"),
    ],
)
def test_what_is_refused_names_its_line(entry, error, message):
    x = numbers(64, 16) if entry is transposed else numbers(16, 32)
    with pytest.raises(error, match=message) as found:
        entry(x, zeros(16, 64) if entry is transposed else zeros(16, 32))
    assert found.value.span["filename"] == __file__ and found.value.span["line"] > 1


@pl.jit
def writes_an_input(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    add_into(x, x, y)
    add_into(x, x, z)


def test_an_input_that_a_kernel_writes():
    with pytest.raises(ParserTypeError, match="y is written, but not declared as Out"):
        writes_an_input(numbers(16, 32), zeros(16, 32), zeros(16, 32))


def test_mutated_programs_are_refused_or_compiled(tmp_path):
    from pto_mlir import _compiler
    from pypto.pypto_core import ir

    random = np.random.default_rng(0)
    wholes = [
        ir.serialize(sums.lower(numbers(32, 64), zeros(8, 64))),
        ir.serialize(columns.lower(numbers(16, 64), zeros(16, 64))),
    ]
    refused = 0
    for _ in range(300):
        data = bytearray(wholes[random.integers(2)])
        data[random.integers(len(data))] = random.integers(256)
        try:
            _compiler.compile_pypto(bytes(data), str(tmp_path / "k.pmodel"))
        except _compiler.CompileError:
            refused += 1
    assert 0 < refused < 300

"""Loops that are left early, and windows that reach behind their tensor; numbers against numpy."""

import numpy as np
import pypto.language as pl
import pytest
from pypto import DataType, codegen, ir
from pypto.ir.op import tensor, tile
from pypto.runtime import RunConfig
from test_pypto_lower import F32, I32, SPAN, Kernel, numbers, scalar, tensor_of
from test_pypto_parts import both

BOOL, INDEX = DataType.BOOL, DataType.INDEX


def search(jump, values, after=True):
    """Counts and sums up to the first negative element (break), or over the others (continue)."""
    k = Kernel(x=tensor_of(1, 16, dtype=I32), z=tensor_of(1, 8, dtype=I32), n=ir.ScalarType(INDEX))
    x, z, n = k.params
    zero = ir.ConstInt(0, I32, SPAN)
    with k.builder.for_loop("i", 0, n, 1) as loop:
        count, total = loop.iter_arg("count", zero), loop.iter_arg("total", zero)
        e = k.let(tensor.read(x, [0, loop.loop_var]), "e")
        with k.builder.if_stmt(ir.Lt(e, 0, BOOL, SPAN)):
            k.builder.emit(jump(SPAN))
        more = k.let(ir.Add(count, 1, I32, SPAN), "more")
        k.builder.yield_stmt([more, ir.Add(total, e, I32, SPAN)])
        loop.return_var("count"), loop.return_var("total")
    k.builder.eval_stmt(tensor.write(z, [0, 0], loop.output(0)))
    k.builder.eval_stmt(tensor.write(z, [0, 1], loop.output(1)))
    return k


@both
@pytest.mark.parametrize("first", [0, 3, 15, 16])
def test_break_keeps_what_was_carried(tmp_path, processor, first):
    data = np.arange(1, 17, dtype=np.int32).reshape(1, 16)
    data[0, first:] *= -1
    out = np.zeros((1, 8), np.int32)
    search(ir.BreakStmt, data).run(tmp_path, data, out, 16, processor=processor)
    assert out[0, :2].tolist() == [first, data[0, :first].sum()]


@both
def test_continue_skips_the_rest_of_the_iteration(tmp_path, processor):
    data = np.random.default_rng(2).integers(-9, 9, (1, 16)).astype(np.int32)
    out = np.zeros((1, 8), np.int32)
    search(ir.ContinueStmt, data).run(tmp_path, data, out, 12, processor=processor)
    kept = data[0, :12][data[0, :12] >= 0]
    assert out[0, :2].tolist() == [len(kept), kept.sum()]


@both
def test_jumps_in_nested_branches_and_while(tmp_path, processor):
    k = Kernel(x=tensor_of(8, 32), z=tensor_of(8, 32), n=ir.ScalarType(INDEX))
    x, z, n = k.params
    with k.builder.while_loop(lambda loop: ir.Lt(loop.iter_args[0], 100, BOOL, SPAN)) as loop:
        row = loop.iter_arg("row", ir.ConstInt(0, INDEX, SPAN))
        with k.builder.if_stmt(ir.Gt(row, 1, BOOL, SPAN)) as branch:
            with k.builder.if_stmt(ir.Ge(row, n, BOOL, SPAN)):
                k.builder.emit(ir.BreakStmt(SPAN))
            with branch.else_():
                t = k.let(tile.load(x, [row, 0], [1, 32]))
                k.store(k.let(tile.muls(t, -1.0)), z, [row, 0])
        u = k.let(tile.load(x, [ir.Min(row, 7, INDEX, SPAN), 0], [1, 32]))
        k.store(k.let(tile.adds(u, 1.0)), z, [ir.Min(row, 7, INDEX, SPAN), 0])
        k.builder.yield_stmt([ir.Add(row, 1, INDEX, SPAN)])
        loop.return_var("row")
    data, out = numbers(8, 32), np.zeros((8, 32), np.float32)
    k.run(tmp_path, data, out, 5, processor=processor)
    expected = np.zeros_like(data)
    expected[:5] = data[:5] + 1
    np.testing.assert_array_equal(out, expected)


def test_the_outer_loop_goes_on(tmp_path):
    k = Kernel(z=tensor_of(4, 8, dtype=I32), n=ir.ScalarType(INDEX))
    z, n = k.params
    with k.builder.for_loop("i", 0, 4, 1) as outer:
        with k.builder.for_loop("j", 0, 8, 1) as inner:
            with k.builder.if_stmt(ir.Gt(inner.loop_var, outer.loop_var, BOOL, SPAN)):
                k.builder.emit(ir.BreakStmt(SPAN))
            k.builder.eval_stmt(tensor.write(z, [outer.loop_var, inner.loop_var], ir.ConstInt(1, I32, SPAN)))
    out = np.zeros((4, 8), np.int32)
    k.run(tmp_path, out, 0)
    np.testing.assert_array_equal(out, np.tri(4, 8, dtype=np.int32))


def test_from_source_text(tmp_path):
    program = pl.parse("""
import pypto.language as pl

@pl.function
def kernel(x: pl.Tensor[[8, 32], pl.FP32], z: pl.Tensor[[8, 32], pl.FP32], n: pl.Scalar[pl.INDEX]):
    for i in pl.range(8):
        if i == 1:
            continue
        if i >= n:
            break
        pl.store(pl.load(x, [i, 0], [1, 32]), [i, 0], z)
""")
    text = codegen.PTOCodegen().generate(ir.Program([program], "P"))
    assert "scf.while" in text
    data, out = numbers(8, 32), np.zeros((8, 32), np.float32)
    k = Kernel()
    k.program = lambda: ir.Program([program], "P")
    k.run(tmp_path, data, out, 4)
    expected = np.zeros_like(data)
    expected[[0, 2, 3]] = data[[0, 2, 3]]
    np.testing.assert_array_equal(out, expected)


def refused(build):
    k = Kernel(x=tensor_of(8, 32), n=ir.ScalarType(I32))
    build(k, *k.params)
    with pytest.raises(ValueError) as error:
        codegen.PTOCodegen().generate(k.program())
    return str(error.value)


def test_a_loop_left_early_carries_no_tiles():
    def build(k, x, n):
        t = k.let(tile.load(x, [0, 0], [8, 32]))
        with k.builder.for_loop("i", 0, 4, 1) as loop:
            acc = loop.iter_arg("acc", t)
            k.builder.emit(ir.BreakStmt(SPAN))
            k.builder.yield_stmt([acc])
            loop.return_var("acc")

    assert "a loop with break or continue carries no tiles: acc" in refused(build)


def test_a_jump_outside_of_a_loop():
    assert "continue outside of a loop" in refused(lambda k, x, n: k.builder.emit(ir.ContinueStmt(SPAN)))


@both
@pytest.mark.parametrize("rows, first", [(20, 16), (20, 4), (16, 15), (20, 20)])
def test_a_clamped_window(tmp_path, processor, rows, first):
    m = scalar("M")
    k = Kernel(x=ir.TensorType([m, 64], F32), z=tensor_of(8, 64), row=ir.ScalarType(INDEX))
    x, z, row = k.params
    t = k.let(tile.load(x, [row, 0], [8, 64], clamp=True))
    k.store(k.let(tile.muls(t, 2.0)), z)
    data, out = numbers(rows, 64), np.zeros((8, 64), np.float32)
    k.run(tmp_path, data, out, first, rows, processor=processor)
    expected = np.zeros_like(out)
    held = data[first : first + 8] * 2
    expected[: len(held)] = held
    np.testing.assert_array_equal(out, expected)


def test_a_window_behind_the_end_of_known_extents(tmp_path):
    k = Kernel(x=tensor_of(20, 64), z=tensor_of(20, 64))
    x, z = k.params
    k.store(k.let(tile.load(x, [16, 0], [8, 64])), z, [16, 0])
    data, out = numbers(20, 64), np.zeros((20, 64), np.float32)
    k.run(tmp_path, data, out)
    np.testing.assert_array_equal(out[16:], data[16:])
    assert not out[:16].any()


@pl.jit
def next_rows(n: pl.Tensor, x: pl.Tensor, y: pl.InOut[pl.Tensor]):
    """Slices that loops carry, change places, and are read behind them."""
    with pl.at(level=pl.Level.CORE_GROUP):
        t, u = x[0:8, :], x[8:16, :]
        for i in pl.range(pl.tensor.read(n, [0])):
            y[i * 8 : i * 8 + 8, :] = pl.sub(t, u)
            t, u = u, x[i * 8 + 16 : i * 8 + 24, :]
        y[32:40, :] = pl.mul(t, 3.0)
    return y


@pl.jit
def inner_rows(x: pl.Tensor, y: pl.InOut[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = x[0:8, 0:32]
        for i in pl.range(2):
            total = pl.mul(t, 0.0)
            for j in pl.range(3):
                total = pl.add(total, t)
                t = x[j * 8 : j * 8 + 8, i * 32 : i * 32 + 32]
            y[i * 8 : i * 8 + 8, 0:32] = total
    return y


@pytest.mark.parametrize("platform", ("a2a3", "a5"))
def test_slices_that_loops_carry(platform):
    config = RunConfig(platform=platform, mode="checked")
    x = np.random.default_rng(0).standard_normal((48, 64)).astype(np.float32)
    parts = x.reshape(6, 8, 64)
    for n in (3, 0, 4):
        y = np.zeros((40, 64), np.float32)
        next_rows(np.array([n], np.int32), x, y, config=config)
        np.testing.assert_array_equal(y[: 8 * n], (parts[:n] - parts[1 : n + 1]).reshape(-1, 64))
        np.testing.assert_array_equal(y[32:], 3 * parts[n])
    y = np.zeros((16, 64), np.float32)
    inner_rows(x, y, config=config)
    t = parts[0, :, :32]
    for i in range(2):
        total = np.zeros((8, 32), np.float32)
        for j in range(3):
            total, t = total + t, parts[j, :, i * 32 : i * 32 + 32]
        np.testing.assert_array_equal(y[i * 8 : i * 8 + 8, :32], total)

"""Joining, filling, sorting, scattering, products with bias and of vectors, views of the same bytes; numbers against
numpy."""

import numpy as np
import pytest
from pypto import DataType, codegen, ir
from pypto.ir.op import system, tile
from test_pypto_lower import F32, I32, SPAN, Kernel, tensor_of
from test_pypto_parts import both, load, numbers, run, types

Mem = ir.MemorySpace


@both
@types
def test_concat(tmp_path, processor, dtype):
    a, b = numbers(8, 32, dtype=dtype), numbers(8, 16, dtype=dtype, seed=1)
    make = lambda k, x, y: k.let(tile.concat(load(k, x), load(k, y)))  # noqa: E731
    out = run(tmp_path, processor, make, a, b, shape=(8, 48), dtype=dtype)
    np.testing.assert_array_equal(out, np.concatenate([a, b], axis=1))


@both
@pytest.mark.parametrize("pad, value", [("zero", 0), ("max", np.inf), ("min", -np.inf)])
@pytest.mark.parametrize("rows, cols", [(5, 20), (8, 24), (3, 32)])
def test_fillpad(tmp_path, processor, pad, value, rows, cols):
    data = numbers(rows, cols)
    make = lambda k, x: k.let(tile.fillpad(load(k, x, [8, 32]), getattr(ir.PadValue, pad)))  # noqa: E731
    out = run(tmp_path, processor, make, data, shape=(8, 32))
    expected = np.full((8, 32), value, np.float32)
    expected[:rows, :cols] = data
    np.testing.assert_array_equal(out, expected)


@both
def test_fillpad_in_place(tmp_path, processor):
    data = numbers(5, 20)
    make = lambda k, x: k.let(tile.fillpad_inplace(load(k, x, [8, 32])))  # noqa: E731
    expected = np.zeros((8, 32), np.float32)
    expected[:5, :20] = data
    np.testing.assert_array_equal(run(tmp_path, processor, make, data, shape=(8, 32)), expected)


@both
def test_fillpad_expand(tmp_path, processor):
    data = numbers(4, 16)
    make = lambda k, x: k.let(tile.fillpad_expand(load(k, x), [8, 32]))  # noqa: E731
    expected = np.zeros((8, 32), np.float32)
    expected[:4, :16] = data
    np.testing.assert_array_equal(run(tmp_path, processor, make, data, shape=(8, 32)), expected)


@both
def test_sort32(tmp_path, processor):
    data = np.random.default_rng(4).permutation(256).astype(np.float32).reshape(4, 64)
    k = Kernel(x=tensor_of(4, 64), i=tensor_of(4, 64, dtype=DataType.UINT32), z=tensor_of(4, 128), out=tensor_of(4, 64))
    x, i, z, _ = k.params
    k.store(k.let(tile.sort32(load(k, x), load(k, i))), z)
    places = np.tile(np.arange(64, dtype=np.uint32), (4, 1))
    out = np.zeros((4, 128), np.float32)
    k.run(tmp_path, data, places, out, np.zeros((4, 64), np.float32), processor=processor)
    for half in range(2):
        part = data[:, half * 32 : half * 32 + 32]
        pairs = out[:, half * 64 : half * 64 + 64]
        np.testing.assert_array_equal(pairs[:, 0::2], -np.sort(-part, axis=1))
        np.testing.assert_array_equal(pairs[:, 1::2].copy().view(np.uint32), np.argsort(-part, axis=1) + half * 32)


@both
@pytest.mark.parametrize("dtype", [F32, I32], ids=["f32", "i32"])
def test_scatter(tmp_path, processor, dtype):
    source = numbers(4, 16, dtype=dtype)
    places = np.random.default_rng(8).permutation(8 * 32)[:64].reshape(4, 16)
    k = Kernel(
        d=tensor_of(8, 32, dtype=dtype),
        s=tensor_of(4, 16, dtype=dtype),
        i=tensor_of(4, 16, dtype=I32),
        z=tensor_of(8, 32, dtype=dtype),
    )
    d, s, i, z = k.params
    k.store(k.let(tile.scatter(load(k, d), load(k, s), load(k, i))), z)
    before = numbers(8, 32, dtype=dtype, seed=1)
    out = np.zeros_like(before)
    k.run(tmp_path, before, source, places.astype(np.int32), out, processor=processor)
    expected = before.copy()
    expected.reshape(-1)[places.reshape(-1)] = source.reshape(-1)
    np.testing.assert_array_equal(out, expected)


def operand(k, x, space):
    return k.let(tile.move(load(k, x, target_memory=Mem.Mat), target_memory=space))


def small(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16)


@both
def test_a_product_with_bias(tmp_path, processor):
    a, b, c = small(16, 32), small(32, 64, seed=1), numbers(1, 64, seed=2)

    def make(k, x, y, v):
        bias = k.let(tile.move(load(k, v, target_memory=Mem.Mat), target_memory=Mem.Bias))
        return k.let(tile.matmul_bias(operand(k, x, Mem.Left), operand(k, y, Mem.Right), bias))

    out = run(tmp_path, processor, make, a, b, c, shape=(16, 64))
    expected = a.astype(np.float64) @ b.astype(np.float64) + c
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-3)


@both
def test_a_vector_times_a_matrix(tmp_path, processor):
    a, b = small(1, 64), small(64, 32, seed=1)
    c, d = small(1, 64, seed=2), small(64, 32, seed=3)

    def make(k, x, y, v, w):
        acc = k.let(tile.gemv(operand(k, x, Mem.Left), operand(k, y, Mem.Right)))
        return k.let(tile.gemv_acc(acc, operand(k, v, Mem.Left), operand(k, w, Mem.Right)))

    out = run(tmp_path, processor, make, a, b, c, d, shape=(1, 32))
    expected = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64) @ d.astype(np.float64)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-3)


@both
def test_blocks_and_barriers(tmp_path, processor):
    k = Kernel(x=tensor_of(32, 32), z=tensor_of(32, 32))
    x, z = k.params
    last = ir.Sub(tile.get_block_num(), 1, DataType.INDEX, SPAN)
    row = k.let(ir.Mul(ir.Sub(last, tile.get_block_idx(), DataType.INDEX, SPAN), 8, DataType.INDEX, SPAN), "row")
    t = k.let(tile.load(x, [row, 0], [8, 32]))
    k.builder.eval_stmt(system.bar_all())
    u = k.let(tile.muls(t, 2.0))
    k.builder.eval_stmt(system.bar_all())
    k.store(u, z, [row, 0])
    data, out = numbers(32, 32), np.zeros((32, 32), np.float32)
    k.run(tmp_path, data, out, processor=processor, blocks=4)
    np.testing.assert_array_equal(out, data * 2)


@both
@pytest.mark.parametrize("valid", [(8, 64), (5, 20), (1, 32)])
def test_another_part_is_valid(tmp_path, processor, valid):
    data = numbers(8, 64)
    k = Kernel(x=tensor_of(8, 64), z=tensor_of(8, 64), r=ir.ScalarType(DataType.INDEX), c=ir.ScalarType(DataType.INDEX))
    x, z, r, c = k.params
    t = k.let(tile.set_validshape(load(k, x), r, c))
    k.store(k.let(tile.muls(t, 2.0)), z)
    out = np.zeros((8, 64), np.float32)
    k.run(tmp_path, data, out, *valid, processor=processor)
    expected = np.zeros_like(out)
    expected[: valid[0], : valid[1]] = 2 * data[: valid[0], : valid[1]]
    np.testing.assert_array_equal(out, expected)


@both
def test_the_same_bytes_as_another_type(tmp_path, processor):
    data = numbers(8, 32)
    make = lambda k, x: k.let(tile.adds(k.let(tile.reinterpret_view(load(k, x), I32)), 1))  # noqa: E731
    out = run(tmp_path, processor, make, data, shape=(8, 32), dtype=I32)
    np.testing.assert_array_equal(out, data.view(np.int32) + 1)


def test_random_words(tmp_path):
    words = []
    for key in (1, 1, 2):
        make = lambda k, _, key=key: k.let(  # noqa: E731
            tile.reinterpret_view(k.let(tile.random(key, 2, 3, 4, 5, 6, [4, 64])), I32)
        )
        words.append(run(tmp_path, "a5", make, numbers(1, 8), shape=(4, 64), dtype=I32))
    np.testing.assert_array_equal(words[0], words[1])
    assert (words[0] != words[2]).mean() > 0.9


def test_semaphores_between_cores(tmp_path):

    k = Kernel(x=tensor_of(8, 32))
    k.builder.eval_stmt(system.sync_set(event_id=3, pipe=ir.PipeType.MTE3))
    k.builder.eval_stmt(system.sync_wait(event_id=3, pipe=ir.PipeType.MTE2))
    text = codegen.PTOCodegen().generate(k.program(), style="today")
    assert "pto.sync.set <PIPE_MTE3>, 3" in text and "pto.sync.wait <PIPE_MTE2>, 3" in text
    k = Kernel(x=tensor_of(8, 32))
    k.builder.eval_stmt(system.sync_set(event_id=16, pipe=ir.PipeType.MTE3))
    with pytest.raises(ValueError, match=r"Event ID must be in range \[0, 15\], got 16"):
        codegen.PTOCodegen().generate(k.program())

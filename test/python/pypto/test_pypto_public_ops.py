"""What public tests ask of single operations: types, valid extents, forms. Numbers against numpy."""

import inspect
import re

import numpy as np
import pypto.language as pl
import pytest
from pypto.ir.compiled_program import CompiledProgram
from pypto.language.parser.diagnostics import InvalidOperationError
from pypto.runtime import RunConfig
from random_numbers import numbers

both = pytest.mark.parametrize("platform", ["a2a3", "a5"])


def run(kernel, *arrays, platform="a2a3"):
    kernel(*arrays, config=RunConfig(platform=platform))


@both
def test_a_scalar_beside_a_mask_has_the_elements_of_the_source(platform):
    @pl.jit
    def positive(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            t = pl.load(x, [0, 0], [8, 64])
            mask = pl.tile.cmps(t, 0, cmp_type=4)
            scratch = pl.tile.create([1, 32], dtype=pl.FP32)
            pl.store(pl.tile.sels(mask, t, scratch, -3), [0, 0], y)
        return y

    x, y = numbers(8, 64), np.zeros((8, 64), np.float32)
    run(positive, x, y, platform=platform)
    np.testing.assert_array_equal(y, np.where(x > 0, x, np.float32(-3)))


@both
@pytest.mark.parametrize("scalar", [-3, -3.0])
@pytest.mark.parametrize("name, dtype", [("UINT8", "u1"), ("UINT16", "u2"), ("UINT32", "u4")])
def test_a_negative_scalar_beside_an_unsigned_tile_is_modulo_its_range(platform, name, dtype, scalar):
    kind = getattr(pl, name)

    @pl.jit
    def filled(y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            pl.store(pl.tile.full([8, 64], kind, scalar), [0, 0], y)
        return y

    y = np.zeros((8, 64), dtype)
    run(filled, y, platform=platform)
    np.testing.assert_array_equal(y, np.full((8, 64), -3).astype(dtype))


@pytest.mark.parametrize("number", [-129, 256])
def test_a_scalar_that_an_unsigned_type_has_no_bits_for(number):
    @pl.jit
    def filled(y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            pl.store(pl.tile.full([8, 64], pl.UINT8, number), [0, 0], y)
        return y

    with pytest.raises(InvalidOperationError, match=f"{number} is out of the range of UINT8"):
        filled(np.zeros((8, 64), np.uint8))


TYPES = ["FP32", "INT8", "UINT8", "INT16", "INT32", "FP16"]
NUMPY = {"FP32": "f4", "INT8": "i1", "UINT8": "u1", "INT16": "i2", "INT32": "i4", "FP16": "f2"}


@both
@pytest.mark.parametrize(
    "given, wanted", [*((each, each) for each in TYPES), ("INT16", "INT32"), ("INT32", "INT8"), ("FP32", "UINT8")]
)
@pytest.mark.parametrize("valid", [(4, 8), (3, 5)])
def test_blocks_of_bytes(platform, given, wanted, valid):
    dtype, columns = getattr(pl, wanted), 8 * 32 // np.dtype(NUMPY[wanted]).itemsize

    @pl.jit
    def blocks(x: pl.Tensor, offsets: pl.Tensor, y: pl.InOut[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            source = pl.load(x, [0, 0], [1, x.shape[1]])
            held = pl.load(offsets, [0, 0], [4, 8], valid_shape=[valid[0], valid[1]])
            pl.store(pl.tile.gatherb(source, held, output_dtype=dtype), [0, 0], y)
        return y

    bytes_ = np.random.default_rng(1).integers(0, 60, 32 * 32).astype(np.uint8)
    order = np.random.default_rng(2).permutation(32).reshape(4, 8)
    y = np.zeros((4, columns), NUMPY[wanted])
    run(blocks, bytes_.view(NUMPY[given])[None], (order * 32).astype(np.uint32), y, platform=platform)
    expected = np.zeros((4, 8, 32), np.uint8)
    expected[: valid[0], : valid[1]] = bytes_.reshape(32, 32)[order][: valid[0], : valid[1]]
    np.testing.assert_array_equal(y.view(np.uint8).reshape(4, 8, 32), expected)


@both
def test_a_narrowed_tensor_is_padded_and_assembled(platform):
    @pl.jit
    def padded(x: pl.Tensor, y: pl.Out[pl.Tensor], z: pl.InOut[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            narrowed = pl.set_validshape(x, 12, 40)
            y = pl.assemble(y, pl.fillpad(narrowed, pad_value=pl.PadValue.zero), [0, 0])
            z = pl.assemble(z, narrowed, [4, 8])
        return y, z

    x, y, z = numbers(16, 64), numbers(16, 64, seed=1), np.full((32, 80), 7, np.float32)
    run(padded, x, y, z, platform=platform)
    expected, part = np.zeros_like(x), np.full((32, 80), 7, np.float32)
    expected[:12, :40] = part[4:16, 8:48] = x[:12, :40]
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(z, part)


@both
@pytest.mark.parametrize("valid", [(16, 64, 32), (9, 64, 32), (16, 40, 32), (16, 64, 30), (9, 40, 30)])
@pytest.mark.parametrize("biased", [False, True])
def test_products_of_narrowed_operands(platform, valid, biased):
    m, k, n = valid

    @pl.jit
    def product(a: pl.Tensor, b: pl.Tensor, bias: pl.Tensor, c: pl.InOut[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            left = pl.load(a, [0, 0], [16, 64], valid_shape=[m, k], target_memory=pl.Mem.Mat)
            right = pl.load(b, [0, 0], [64, 32], valid_shape=[k, n], target_memory=pl.Mem.Mat)
            row = pl.load(bias, [0, 0], [1, 32], valid_shape=[1, n], target_memory=pl.Mem.Mat)
            if biased:
                pl.store(pl.tile.matmul_bias(left, right, row), [0, 0], c)
            else:
                pl.store(pl.matmul(left, right), [0, 0], c)
        return c

    a, b, bias = numbers(16, 64), numbers(64, 32, seed=1), numbers(1, 32, seed=2)
    c = np.full((16, 32), 5, np.float32)
    run(product, a, b, bias, c, platform=platform)
    expected = np.full((16, 32), 5, np.float64)
    expected[:m, :n] = a[:m, :k].astype(np.float64) @ b[:k, :n] + (bias[:, :n] if biased else 0)
    np.testing.assert_allclose(c, expected, rtol=1e-4, atol=1e-4)


@both
@pytest.mark.parametrize("dtype, kind", [("INT16", "i2"), ("INT8", "i1"), ("INT32", "i4"), ("FP32", "f4")])
def test_the_same_bytes_as_other_elements(platform, dtype, kind):
    wanted = getattr(pl, dtype)

    @pl.jit
    def viewed(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            pl.store(pl.reinterpret_view(pl.load(x, [0, 0], [8, 16]), wanted), [0, 0], y)
        return y

    x = numbers(8, 16)
    y = np.zeros((8, 64 // np.dtype(kind).itemsize), kind)
    run(viewed, x, y, platform=platform)
    np.testing.assert_array_equal(y.view(np.uint8), x.view(np.uint8))


PATTERNS = {"P0101": (0, 2), "P1010": (1, 2), "P0001": (0, 4), "P0010": (1, 4), "P0100": (2, 4), "P1000": (3, 4)}


@both
@pytest.mark.parametrize("name", PATTERNS)
def test_columns_of_a_pattern_are_replaced(platform, name):
    first, period = PATTERNS[name]
    pattern = getattr(pl.tile.MaskPattern, name)

    @pl.jit
    def scattered(x: pl.Tensor, dst: pl.Tensor, y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            y = pl.assemble(y, pl.tensor.scatter(x, mask_pattern=pattern, dst=dst), [0, 0])
        return y

    x, dst, y = numbers(4, 16), numbers(4, 16 * period, seed=1), np.zeros((4, 16 * period), np.float32)
    run(scattered, x, dst, y, platform=platform)
    expected = dst.copy()
    expected[:, first::period] = x
    np.testing.assert_array_equal(y, expected)


@both
def test_gathered_columns_as_other_elements(platform):
    @pl.jit
    def bits(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            held = pl.tensor.gather(x, mask_pattern=pl.tile.MaskPattern.P1010, output_dtype=pl.UINT32)
            y = pl.assemble(y, held, [0, 0])
        return y

    x, y = numbers(4, 32), np.zeros((4, 16), np.uint32)
    run(bits, x, y, platform=platform)
    np.testing.assert_array_equal(y, x.view(np.uint32)[:, 1::2])


@both
def test_runs_are_merged_in_a_loop(platform):
    @pl.jit
    def sort(x: pl.Tensor, index: pl.Tensor, y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            held = pl.tensor.sort32(x, index)
            for i, (acc,) in pl.range(2, init_values=(held,)):
                merged = pl.tensor.mrgsort(acc, block_len=1 << (6 + i * 2))
                held = pl.yield_(merged)
            y = pl.assemble(y, pl.tensor.gather(held, mask_pattern=pl.tile.MaskPattern.P0101), [0, 0])
        return y

    x, y = numbers(1, 512), np.zeros((1, 512), np.float32)
    run(sort, x, np.arange(512, dtype=np.uint32)[None], y, platform=platform)
    np.testing.assert_array_equal(y[0], np.sort(x[0])[::-1])


M = pl.dynamic("M")


@pl.program
class Doubled:
    @pl.function(type=pl.FunctionType.InCore)
    def double(self, x: pl.Tensor[[M * 2 + 1, 32], pl.FP32], y: pl.Out[pl.Tensor[[M * 2 + 1, 32], pl.FP32]]):
        t = pl.load(x, [0, 0], [9, 32])
        return pl.store(pl.add(t, t), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[M * 2 + 1, 32], pl.FP32],
        config: pl.Tensor[[2], pl.INDEX],
        y: pl.Out[pl.Tensor[[M * 2 + 1, 32], pl.FP32]],
    ):
        rows: pl.Scalar[pl.INT64] = pl.tensor.dim(x, 0)
        for _ in pl.range(pl.tensor.read(config, [0]) * rows // rows):
            y = self.double(x, y)
        return y


def test_extents_computed_of_an_open_one():
    compiled = CompiledProgram(Doubled, RunConfig())
    x, y, config = numbers(9, 32), np.zeros((9, 32), np.float32), np.array([1, 0])
    compiled(x=x, y=y, config=config)
    np.testing.assert_array_equal(y, 2 * x)
    with pytest.raises(ValueError, match="axis 0 cannot be 8 for any M"):
        compiled(numbers(8, 32), config, np.zeros((8, 32), np.float32))


def test_a_declared_tensor_is_generated_as_one():
    @pl.jit
    def generated(y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            t: pl.Tensor[[4, 64], pl.FP32] = pl.full([4, 64], dtype=pl.FP32, value=2.0)
            y = pl.assemble(y, pl.add(t, t), [0, 0])
        return y

    y = np.zeros((4, 64), np.float32)
    generated(y)
    np.testing.assert_array_equal(y, np.full((4, 64), 4, np.float32))


@pytest.mark.parametrize(
    "compute, message",
    [
        (
            lambda: pl.tensor.gather(x, mask_pattern=pl.tile.MaskPattern.P1010, output_dtype=pl.UINT16),  # noqa: F821
            "output_dtype must be as wide as the elements of src",
        ),
        (
            lambda: pl.tensor.scatter(x, mask_pattern=pl.tile.MaskPattern.P0101, dst=x),  # noqa: F821
            "the pattern selects 16 columns of 4 rows",
        ),
    ],
)
def test_refused(compute, message):
    source = inspect.getsource(compute).split("lambda: ")[1].split(",  # noqa")[0]
    text = f"""
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[4, 32], pl.FP32], y: pl.Out[pl.Tensor[[4, 32], pl.FP32]]):
        t = {source}
        return pl.assemble(y, t, [0, 0])
"""
    with pytest.raises(Exception, match=re.escape(message)) as error:
        CompiledProgram(pl.parse_program(text), RunConfig())
    assert ":7:" in str(error.value) or error.value.span["line"] == 7


@pytest.mark.parametrize("gates", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_scopes_with_predicates(gates):
    @pl.jit
    def gated(x: pl.Tensor, gate: pl.Tensor, y: pl.InOut[pl.Tensor]):
        for i in pl.spmd(2, predicate=(gate[0] > 0)):
            y[i * 16 : i * 16 + 16, :] = pl.add(x[i * 16 : i * 16 + 16, :], 1.0)
        with pl.spmd(2, predicate=(gate[1] > 0)):
            j = pl.tile.get_block_idx()
            y[j * 16 : j * 16 + 16, :] = pl.mul(y[j * 16 : j * 16 + 16, :], 2.0)

    x, y = numbers(32, 32), np.full((32, 32), 5, np.float32)
    gated(x, np.array(gates, np.int32), y)
    expected = x + 1 if gates[0] else np.full((32, 32), 5, np.float32)
    np.testing.assert_array_equal(y, expected * 2 if gates[1] else expected)


def test_bytes_of_a_worker_by_address():
    from pypto.runtime import ChipWorker

    x, y = numbers(8, 8), np.zeros((8, 8), np.float32)
    with ChipWorker() as worker:
        held = worker.alloc_tensor((8, 8), np.float32, init=x)
        worker.copy_from(y.ctypes.data, held.data_ptr, held.nbytes)
        np.testing.assert_array_equal(y, x)
        with pytest.raises(ValueError, match="are in no tensor of the worker"):
            worker.copy_from(y.ctypes.data, held.data_ptr + 4, held.nbytes)

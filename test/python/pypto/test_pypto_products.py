"""Products of tensors: greater than L0C, transposed, accumulated, chained. Numbers against float64."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import ParserError
from pypto.runtime import RunConfig, run


def numbers(*shape, seed=0, dtype=np.float32):
    return (np.random.default_rng(seed).standard_normal(shape) / 4).astype(dtype)


@pl.jit
def product(a: pl.Tensor, b: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        c = pl.matmul(a, b, out_dtype=pl.FP32)
        out = pl.assemble(out, c, [0, 0])
    return out


@pl.jit
def behind(a: pl.Tensor, b: pl.Tensor, bias: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        c = pl.matmul(a, b, out_dtype=pl.FP32)
    for i in pl.range(0, 272, 16):
        with pl.at(level=pl.Level.CORE_GROUP):
            out[i : i + 16, :] = pl.add(c[i : i + 16, :], bias[i : i + 16, :])
    return out


@pl.jit
def transposed(a: pl.Tensor, b: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.matmul(a, b, out_dtype=pl.FP32, a_trans=True, b_trans=True)
    return out


@pl.jit
def accumulated(a: pl.Tensor, b: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        c = pl.matmul(a[:, 0:64], b[0:64, :], out_dtype=pl.FP32)
        c = pl.matmul_acc(c, a[:, 64:96], b[64:96, :])
        out[:] = c
    return out


@pl.jit
def chained(a: pl.Tensor, b: pl.Tensor, e: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        c = pl.matmul(a, b, out_dtype=pl.FP32)
        h = pl.cast(c, pl.FP16, mode="rint")
        d = pl.matmul(h, e, out_dtype=pl.FP32)
        out = pl.assemble(out, d, [0, 0])
    return out


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
@pytest.mark.parametrize("m, k, n", [(256, 128, 256), (272, 48, 400), (16, 80, 2064), (512, 32, 512)])
def test_a_product_beyond_l0c(m, k, n, platform):
    a, b, out = numbers(m, k), numbers(k, n, seed=1), np.zeros((m, n), np.float32)
    product(a, b, out, config=RunConfig(platform=platform))
    np.testing.assert_allclose(out, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


def test_a_product_that_is_read_behind_its_scope():
    a, b, bias = numbers(272, 64), numbers(64, 256, seed=1), numbers(272, 256, seed=2)
    out = np.zeros((272, 256), np.float32)
    behind(a, b, bias, out)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b + bias, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("m, k, n", [(64, 96, 32), (256, 128, 272)])
def test_transposed_operands(m, k, n):
    a, b, out = numbers(k, m), numbers(n, k, seed=1), np.zeros((m, n), np.float32)
    transposed(a, b, out)
    np.testing.assert_allclose(out, a.astype(np.float64).T @ b.T, rtol=1e-4, atol=1e-4)


def test_a_product_in_two_parts():
    a, b, out = numbers(64, 96), numbers(96, 128, seed=1), np.zeros((64, 128), np.float32)
    accumulated(a, b, out)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("m, k, n", [(64, 32, 64), (256, 192, 256)])
def test_a_product_of_a_product(m, k, n):
    a, b = numbers(m, k, dtype=np.float16), numbers(k, n, seed=1, dtype=np.float16)
    e, out = numbers(n, 32, seed=2, dtype=np.float16), np.zeros((m, 32), np.float32)
    chained(a, b, e, out)
    middle = (a.astype(np.float64) @ b).astype(np.float32).astype(np.float16)
    np.testing.assert_allclose(out, middle.astype(np.float64) @ e, rtol=2e-3, atol=2e-3)


@pl.jit
def early(a: pl.Tensor, b: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        c = pl.matmul(a, b, out_dtype=pl.FP32)
        h = pl.cast(c, pl.FP16)
        out = pl.assemble(out, h, [0, 0])
    return out


@pl.jit
def overwritten(a: pl.InOut[pl.Tensor], b: pl.Tensor, e: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        c = pl.matmul(a, b, out_dtype=pl.FP32)
        d = pl.matmul(b, e, out_dtype=pl.FP32)
        a = pl.assemble(a, d, [0, 0])
        out = pl.assemble(out, c, [0, 0])
    return out


def test_what_is_refused():
    a, out = numbers(256, 256), np.zeros((256, 256), np.float32)
    with pytest.raises(ParserError, match="is written before the product is stored; store it at once") as caught:
        overwritten(a, a.copy(), a.copy(), out)
    assert caught.value.span["line"] > 1
    with pytest.raises(ParserError, match="bytes of UB"):  # a cast that rounds otherwise is a vector operation
        early(a, a.copy(), np.zeros((256, 256), np.float16))


# --- kernels of products and vector operations ------------------------------------------------------------------------


@pl.program
class Mixed:
    @pl.function(type=pl.FunctionType.InCore)
    def projected(
        self,
        x: pl.Tensor[[32, 128], pl.FP32],
        w: pl.Tensor[[128, 64], pl.FP32],
        base: pl.Tensor[[32, 64], pl.FP32],
        row: pl.Scalar[pl.INDEX],
        y: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    ) -> pl.Tensor[[32, 64], pl.FP32]:
        """Adds products in steps along K to the base."""
        total = pl.full([16, 64], dtype=pl.FP32, value=0.0)
        for k in pl.range(2):
            a = pl.slice(x, [16, 64], [row, k * 64])
            b = pl.slice(w, [64, 64], [k * 64, 0])
            total = pl.add(total, pl.matmul(a, b, out_dtype=pl.FP32))
        y = pl.assemble(y, pl.add(total, pl.slice(base, [16, 64], [row, 0])), [row, 0])
        return y

    @pl.function(type=pl.FunctionType.InCore)
    def of_a_sum(
        self,
        x: pl.Tensor[[2, 16, 64], pl.FP32],
        b: pl.Tensor[[2, 32, 64], pl.FP32],
        c: pl.Tensor[[2, 32, 64], pl.FP32],
        z: pl.Out[pl.Tensor[[2, 16, 32], pl.FP32]],
    ) -> pl.Tensor[[2, 16, 32], pl.FP32]:
        product = pl.matmul(x, pl.add(b, c), b_trans=True, out_dtype=pl.FP32)
        z = pl.assemble(z, product, [0, 0, 0])
        return z

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[32, 128], pl.FP32],
        w: pl.Tensor[[128, 64], pl.FP32],
        base: pl.Tensor[[32, 64], pl.FP32],
        y: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
        b: pl.Tensor[[2, 32, 64], pl.FP32],
        c: pl.Tensor[[2, 32, 64], pl.FP32],
        z: pl.Out[pl.Tensor[[2, 16, 32], pl.FP32]],
    ):
        for i in pl.range(2):
            y = self.projected(x, w, base, i * 16, y)
        batches = pl.reshape(y, [2, 16, 64])
        z = self.of_a_sum(batches, b, c, z)
        return y, z


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_kernels_of_products_and_vector_operations(platform):
    x, w, base = numbers(32, 128), numbers(128, 64, seed=1), numbers(32, 64, seed=2)
    b, c = numbers(2, 32, 64, seed=3), numbers(2, 32, 64, seed=4)
    y, z = np.zeros((32, 64), np.float32), np.zeros((2, 16, 32), np.float32)
    run(Mixed, x, w, base, y, b, c, z, config=RunConfig(platform=platform))
    expected = x.astype(np.float64) @ w + base
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-3)
    product = expected.reshape(2, 16, 64) @ (b.astype(np.float64) + c).transpose(0, 2, 1)
    np.testing.assert_allclose(z, product, rtol=1e-4, atol=1e-2)

"""pl.paged_gather: rows of pages that a table lists, in L1 or UB, against numpy."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import ParserError
from pypto.runtime import RunConfig

both = pytest.mark.parametrize("platform", ["a2a3", "a5"])
PAGE = 16
SRC = (np.random.default_rng(0).standard_normal((256, 128)) / 4).astype(np.float16)
TABLE = np.random.default_rng(1).permutation(16).astype(np.int32)
ROWS = ((np.arange(16) * 37 + 5) % 256).astype(np.int32)
TAKEN = SRC[TABLE[ROWS // PAGE] * PAGE + ROWS % PAGE]


def run(kernel, *arrays, platform="a2a3"):
    kernel(*arrays, config=RunConfig(platform=platform, mode="checked"))
    return arrays[-1]


@pl.jit
def in_l1(q: pl.Tensor, src: pl.Tensor, idx: pl.Tensor, table: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        rows = pl.paged_gather(src, idx, table, block_size=16, size=128, max_indices=16, is_b_matrix=True)
        y[:] = pl.matmul(q, rows, out_dtype=pl.FP32)
    return y


@both
def test_a_factor_in_l1(platform):
    q = (np.random.default_rng(2).standard_normal((32, 16))).astype(np.float16)
    y = run(in_l1, q, SRC, ROWS, TABLE, np.zeros((32, 128), np.float32), platform=platform)
    np.testing.assert_allclose(y, q.astype(np.float64) @ TAKEN.astype(np.float64), rtol=1e-5, atol=1e-5)


@pl.jit
def transposed(q: pl.Tensor, src: pl.Tensor, idx: pl.Tensor, table: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        columns = pl.paged_gather(src, idx, table, 16, 64, 16, col_off=32, is_trans=True)
        y[:] = pl.matmul(q, columns, out_dtype=pl.FP32)
    return y


@both
def test_a_transposed_factor_of_some_columns(platform):
    q = (np.random.default_rng(2).standard_normal((16, 64))).astype(np.float16)
    row, table = ROWS[None], TABLE[None]  # of one row, too
    y = run(transposed, q, SRC, row, table, np.zeros((16, 16), np.float32), platform=platform)
    expected = q.astype(np.float64) @ TAKEN[:, 32:96].astype(np.float64).T
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


@pl.jit
def in_ub(src: pl.Tensor, idx: pl.Tensor, table: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        rows = pl.tensor.paged_gather(src, idx, table, 16, 96, 16, space=pl.MemorySpace.Vec, col_off=16)
        y = pl.assemble(y, rows, [0, 0])
    return y


@both
def test_rows_in_ub(platform):
    y = run(in_ub, SRC, ROWS, TABLE, np.zeros((16, 96), np.float16), platform=platform)
    np.testing.assert_array_equal(y, TAKEN[:, 16:112])


def program(call):
    return f"""
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def f(self, src: pl.Tensor[[256, 128], pl.FP16], idx: pl.Tensor[[16], pl.INT32], t: pl.Tensor[[16], pl.INT32],
          y: pl.Out[pl.Tensor[[16, 128], pl.FP16]]) -> pl.Tensor[[16, 128], pl.FP16]:
        rows = pl.paged_gather({call})
        y = pl.assemble(y, rows, [0, 0])
        return y
"""


@pytest.mark.parametrize(
    "call, message",
    [
        ("src, idx, t, 16, 128, 8", "16 indices are more than max_indices, 8"),
        ("src, src, t, 16, 128, 16", r"indices must be a tensor of INT32, \[n\] or \[1, n\]"),
        ("idx, idx, t, 16, 128, 16", "src must be a tensor of two axes"),
        ("src, idx, t, 0, 128, 16", "block_size must be a constant of 1 or more"),
        ("src, idx, t, 16, 128", "missing a required argument: 'max_indices'"),
        ("src, idx, t, 16, 128, 16, space=pl.Mem.Vec, is_trans=True", "space is Mat, or Vec without is_trans"),
    ],
)
def test_refused(call, message):
    with pytest.raises(ParserError, match=message) as refused:
        pl.parse_program(program(call))
    assert refused.value.span["line"] == 8

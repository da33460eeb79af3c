"""Products as operands of vector operations in kernels of tiles; tiles in L1 as factors of tensors. Numbers: numpy."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.runtime import RunConfig, run

both = pytest.mark.parametrize("platform", ["a2a3", "a5"])

KERNEL = """
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[32, 48], pl.FP32], b: pl.Tensor[[48, 64], pl.FP32],
               z: pl.Tensor[[32, 64], pl.FP32], y: pl.Out[pl.Tensor[[32, {columns}], pl.FP32]]
               ) -> pl.Tensor[[32, {columns}], pl.FP32]:
        acc = pl.matmul(pl.load(a, [0, 0], [32, 48], target_memory=pl.Mem.Mat),
                        pl.load(b, [0, 0], [48, 64], target_memory=pl.Mem.Mat))
        other = pl.load(z, [0, 0], [32, 64])
        {body}
        return pl.store(out, [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[32, 48], pl.FP32], b: pl.Tensor[[48, 64], pl.FP32],
             z: pl.Tensor[[32, 64], pl.FP32], y: pl.Out[pl.Tensor[[32, {columns}], pl.FP32]]
             ) -> pl.Tensor[[32, {columns}], pl.FP32]:
        return self.kernel(a, b, z, y)
"""
LOOP = """sum = pl.add(acc, other)
        for i in pl.range(3):
            sum = pl.add(sum, acc)
        out = pl.muls(sum, 0.5)"""
BRANCH = """sum = pl.adds(acc, 1.0)
        for i in pl.range(2):
            if i == 0:
                sum = pl.mul(sum, other)
            else:
                sum = pl.sub(sum, acc)
        out = pl.exp(pl.muls(sum, 0.01))"""
CASES = {
    "left": ("out = pl.add(acc, other)", lambda p, z: p + z),
    "right": ("out = pl.sub(other, acc)", lambda p, z: z - p),
    "both": ("out = pl.mul(acc, acc)", lambda p, z: p * p),
    "scalar": ("out = pl.muls(acc, 0.25)", lambda p, z: p / 4),
    "unary": ("out = pl.exp(pl.muls(acc, 0.1))", lambda p, z: np.exp(p * 0.1)),
    "rows": ("out = pl.row_max(acc, pl.tile.create([32, 64], pl.FP32))", lambda p, z: p.max(1, keepdims=True)),
    "loop": (LOOP, lambda p, z: (4 * p + z) / 2),
    "branch": (BRANCH, lambda p, z: np.exp(((p + 1) * z - p) * 0.01)),
    "kept": ("out = pl.add(pl.relu(acc), pl.maximum(acc, other))", lambda p, z: np.maximum(p, 0) + np.maximum(p, z)),
}


def numbers(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@both
@pytest.mark.parametrize("case", CASES)
def test_vector_operations_read_a_product(platform, case):
    body, expected = CASES[case]
    a, b, z = numbers(32, 48), numbers(48, 64, seed=1), numbers(32, 64, seed=2)
    want = expected(a.astype(np.float64) @ b, z.astype(np.float64))
    y = np.zeros(want.shape, np.float32)
    program = pl.parse_program(KERNEL.format(body=body, columns=want.shape[1]))
    run(program, a, b, z, y, config=RunConfig(platform=platform))
    np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-4)


@both
def test_rows_in_l1_are_a_factor_of_tensors(platform):
    """Rows of a table that indices name, as keys: scores = q . rows^T, then those of the first four once more."""

    @pl.jit
    def scores(q: pl.Tensor, table: pl.Tensor, index: pl.Tensor, count: pl.Tensor, y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            rows = pl.cast(pl.read(count, [0]), pl.INDEX)
            keys = pl.create_l1([32, 64], pl.FP16)
            for i in pl.range(32):
                at = pl.cast(pl.read(index, [i]), pl.INDEX)
                keys = pl.gather_row(keys, table, [i, 0], [at, 0], [1, 64])
            keys = pl.gather_row(keys, table, [0, 0], [64, 0], [32, 64], valid_shape=[rows, 64])
            y = pl.assemble(y, pl.matmul(q, keys, b_trans=True, out_dtype=pl.FP32), [0, 0])
        return y

    q, table = numbers(16, 64, dtype=np.float16), numbers(96, 64, seed=1, dtype=np.float16)
    index, y = np.random.default_rng(2).permutation(64)[:32].astype(np.int32), np.zeros((16, 32), np.float32)
    scores(q, table, index, np.array([4], np.int32), y, config=RunConfig(platform=platform))
    keys = table[index].astype(np.float64)
    keys[:4] = table[64:68]
    np.testing.assert_allclose(y, q.astype(np.float64) @ keys.T, rtol=1e-3, atol=1e-3)


def test_a_tile_of_the_vector_cores_is_no_factor_of_tensors():
    text = """
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[32, 32], pl.FP32], y: pl.Out[pl.Tensor[[32, 32], pl.FP32]]):
        y = pl.assemble(y, pl.matmul(a, pl.load(a, [0, 0], [32, 32])), [0, 0])
        return y
"""
    with pytest.raises(Exception, match="rhs must be a tensor"):
        pl.parse_program(text)

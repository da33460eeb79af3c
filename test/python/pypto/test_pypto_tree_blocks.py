"""Launches of blocks (pl.spmd) in the C++ of an orchestrator."""

import numpy as np
import pypto.language as pl
import pytest
from test_pypto_barriers import EXCHANGES, Hard, Mixed, exchange, numbers, turned
from test_pypto_tree import output_tree, written


@pl.program
class Sums:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self, x: pl.Tensor[[64, 32], pl.FP32], w: pl.Tensor[[32, 32], pl.FP32], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]
    ) -> pl.Tensor[[64, 32], pl.FP32]:
        for block in pl.spmd(4, sync_start=True):
            rows = pl.mul(pl.slice(x, [16, 32], [block * 16, 0]), 2.0)
            y = pl.assemble(y, pl.add(pl.matmul(rows, w), rows), [block * 16, 0])
        return y


def text_of(tmp_path):
    return "".join(path.read_text() for path in (tmp_path / "orchestration").iterdir())


def test_a_kernel_of_blocks(tmp_path):
    tree = written(tmp_path, Hard, True)
    a, b, out = (numbers(384, 64, seed=seed) for seed in range(3))
    tree(a, b, out)
    np.testing.assert_array_equal(out, a + b)
    text = text_of(tmp_path)
    assert "params_t0.launch_spec.set_block_num(48);" in text
    assert "params_t0.launch_spec.set_require_sync_start(true);" in text


def test_kernels_of_a_scope_hand_on_the_part_of_each_block(tmp_path):
    tree = written(tmp_path, Sums, True)
    x, w, y = numbers(64, 32), numbers(32, 32, seed=1), np.zeros((64, 32), np.float32)
    tree(x, w, y)
    np.testing.assert_allclose(y, 2 * x.astype(np.float64) @ w + 2 * x, rtol=1e-4, atol=1e-4)
    assert text_of(tmp_path).count("launch_spec.set_block_num(4);") == 3


@pytest.mark.parametrize("name", EXCHANGES)
def test_blocks_exchange_data(tmp_path, name):
    body, expected = EXCHANGES[name]
    tree = written(tmp_path, exchange(*body), True)
    x, y, z = (numbers(64, 64, seed=seed) for seed in range(3))
    of_y, of_z = (array.copy() for array in expected(x, y, z))
    tree(x, y, z)
    np.testing.assert_array_equal(y, of_y)
    np.testing.assert_allclose(z, of_z, rtol=1e-4, atol=1e-5)


def test_vector_and_cube_cores_exchange_tensors(tmp_path):
    tree = written(tmp_path, Mixed, True)
    a, b, y, out = numbers(64, 64), numbers(64, 64, seed=1), *np.zeros((2, 64, 64), np.float32)
    tree(a, b, y, out)
    np.testing.assert_array_equal(y, turned(a + 1))
    np.testing.assert_allclose(out, (turned(a + 1) * (a + 1)).astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


@pl.program
class Given:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self, x: pl.Tensor[[64, 32], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[64, 32], pl.FP32]]
    ) -> pl.Tensor[[64, 32], pl.FP32]:
        for block in pl.spmd(n + 1):
            y = pl.assemble(y, pl.add(pl.slice(x, [8, 32], [block * 8, 0]), 1.0), [block * 8, 0])
        return y


def test_a_number_of_blocks_that_the_run_gives(tmp_path):
    tree = written(tmp_path, Given, True)
    for n in (0, 4, 7):
        x, y = numbers(64, 32), numbers(64, 32, seed=1)
        expected = np.vstack([x[: 8 * n + 8] + 1, y[8 * n + 8 :]])
        tree(x, n, y)
        np.testing.assert_array_equal(y, expected)
    with pytest.raises(RuntimeError, match="pl.spmd needs at least one block"):
        tree(numbers(64, 32), -1, numbers(64, 32))


def test_a5_calls_it_by_its_own_name():
    files, left_out = output_tree.tree_files(Hard, True, "a5")
    assert left_out == {} and any("launch_spec.set_core_num(48);" in text for text in files.values())


def test_the_calls_of_march_have_no_blocks():
    _, left_out = output_tree.tree_files(Hard, False)
    assert "launches of several blocks came after the orchestration API of March 2026" in left_out["orchestration"]

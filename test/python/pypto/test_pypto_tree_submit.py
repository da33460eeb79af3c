"""Tasks as values (pl.submit) in the C++ of an orchestrator: what they wait for, arrays, predicates, blocks."""

import numpy as np
import pypto.language as pl
import pytest
import test_pypto_submit as programs
from test_pypto_submit import add_number, numbers
from test_pypto_tree import output_tree, written
from test_pypto_tree_blocks import text_of


@pytest.mark.parametrize("name", ("Phases", "Chains"))
def test_tasks_in_arrays_and_loops(tmp_path, name):
    tree = written(tmp_path, getattr(programs, name), True)
    x, out = numbers(128, 64), np.zeros((128, 64), np.float32)
    tree(x, out)
    expected = x + np.float32(1)
    expected[:16] = x[:16] + np.float32(2)
    np.testing.assert_array_equal(out, expected)


def test_no_task_is_waited_for_by_none(tmp_path):
    tree = written(tmp_path, programs.Chain, True)
    x, out = numbers(128, 64), np.zeros((128, 64), np.float32)
    tree(x, out)
    np.testing.assert_array_equal(out, x + np.float32(1))
    text = text_of(tmp_path)
    assert "PTO2TaskId::invalid()" in text and ".set_dependencies(params_t0_deps, params_t0_deps_count);" in text


def test_what_is_not_tracked(tmp_path):
    written(tmp_path, programs.Phases, True)
    assert "params_t1.add_no_dep(ext_x);" in text_of(tmp_path)


def test_a_predicate_retires_the_task(tmp_path):
    tree = written(tmp_path, programs.Choice, True)
    x, out = numbers(128, 64), numbers(128, 64, seed=1)
    gate = np.array([1, 0, 2, -1, 0, 0, 7, 1], np.int32).reshape(8, 1)
    expected = np.where(np.repeat(gate, 16, axis=0) > 0, x + np.float32(1), out)
    tree(x, gate, out)
    np.testing.assert_array_equal(out, expected)


COMPARISONS = ("gate[i] == 2", "gate[i] != 2", "gate[i] > 2", "gate[i] < 2", "2 >= gate[i]", "2 <= gate[i]")
COMPARING = """\
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(
        self, x: pl.Tensor[[240, 64], pl.FP32], row: pl.Scalar[pl.INDEX], y: pl.InOut[pl.Tensor[[240, 64], pl.FP32]]
    ) -> pl.Tensor[[240, 64], pl.FP32]:
        return pl.store(pl.load(x, [row, 0], [8, 64]), [row, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[240, 64], pl.FP32],
        gate: pl.Tensor[[5], pl.{TYPE}],
        y: pl.InOut[pl.Tensor[[240, 64], pl.FP32]],
    ):
        for i in pl.range(5):
{SUBMITS}
        return y
"""


@pytest.mark.parametrize("dtype", ("INT8", "INT16", "INT32", "INT64"))
def test_predicates_compare_integers(tmp_path, dtype):
    submits = [
        f"            y, _ = pl.submit(self.k, x, (i + {5 * n}) * 8, y, predicate=({condition}))"
        for n, condition in enumerate(COMPARISONS)
    ]
    text = COMPARING.replace("{SUBMITS}", "\n".join(submits)).replace("{TYPE}", dtype)
    tree = written(tmp_path, pl.parse_program(text), True)
    x, y = numbers(240, 64), numbers(240, 64, seed=1)
    gate = np.array([-3, 1, 2, 3, 100], dtype.lower())
    holds = np.concatenate([gate == 2, gate != 2, gate > 2, gate < 2, gate <= 2, gate >= 2])
    expected = np.where(np.repeat(holds, 8)[:, None], x, y)
    tree(x, gate, y)
    np.testing.assert_array_equal(y, expected)
    text = text_of(tmp_path)
    assert [text.count(f"PredicateOp::{each};") for each in ("EQ", "NE", "GT", "LT", "LE", "GE")] == [1] * 6


@pytest.mark.parametrize("count", [(1, 1), (3, 9), (8, 2)])
def test_blocks_of_tasks(tmp_path, count):
    tree = written(tmp_path, programs.Blocks, True)
    x, out = numbers(128, 64), numbers(128, 64, seed=1)
    expected = out + x + x + x
    tree(x, np.array(count, np.int32), out)
    np.testing.assert_array_equal(out, expected)


def test_scopes_as_tasks(tmp_path):
    x, y = numbers(128, 64), np.zeros((128, 64), np.float32)
    tree = written(tmp_path, programs.chained.lower(x, y), True)
    tree(x, y)
    np.testing.assert_array_equal(y, (x * np.float32(2) + np.float32(1)) * np.float32(2))


@pl.program
class Inner:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[128, 64], pl.FP32], out: pl.InOut[pl.Tensor[[128, 64], pl.FP32]]):
        with pl.manual_scope():
            out, tid = pl.submit(add_number, x, 0, 1.0, out)
        out, _ = pl.submit(add_number, x, 16, 1.0, out, deps=[tid])
        return out


def test_what_has_no_form():
    _, left_out = output_tree.tree_files(programs.Chain, False)
    assert "manual scopes came after the orchestration API of March 2026" in left_out["orchestration"]
    _, left_out = output_tree.tree_files(programs.Choice, False)
    assert "tasks as values came after the orchestration API of March 2026" in left_out["orchestration"]
    _, left_out = output_tree.tree_files(Inner, True)
    assert "tid has no value here" in left_out["orchestration"]

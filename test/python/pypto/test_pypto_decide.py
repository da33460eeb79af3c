"""Orchestrators that decide at run time: elements, numbers and sizes that a run gives. Numbers against numpy."""

import subprocess
import sys

import numpy as np
import pypto.language as pl
import pytest
from pto_mlir.runtime import InferenceSession
from pypto.language.parser.diagnostics import InvalidOperationError
from pypto.runtime import run
from random_numbers import numbers

ROWS, COLS = 16, 64


@pl.function(type=pl.FunctionType.InCore)
def add_rows(
    x: pl.Tensor[[16, 64], pl.FP32], acc: pl.InOut[pl.Tensor[[16, 64], pl.FP32]]
) -> pl.Tensor[[16, 64], pl.FP32]:
    t = pl.add(pl.load(x, [0, 0], [16, 64]), pl.load(acc, [0, 0], [16, 64]))
    return pl.store(t, [0, 0], acc)


@pl.function(type=pl.FunctionType.InCore)
def scale(
    x: pl.Tensor[[16, 64], pl.FP32], factor: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
) -> pl.Tensor[[16, 64], pl.FP32]:
    return pl.store(pl.mul(pl.load(x, [0, 0], [16, 64]), factor), [0, 0], y)


@pl.program
class Gather:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[128, 64], pl.FP32],
        table: pl.Tensor[[8], pl.INT32],
        count: pl.Tensor[[1], pl.INT32],
        acc: pl.InOut[pl.Tensor[[16, 64], pl.FP32]],
        out: pl.Out[pl.Tensor[[48, 64], pl.FP32]],
    ):
        n = pl.tensor.read(count, [0])
        for i in pl.range(n):
            row = pl.tensor.read(table, [i])
            acc = add_rows(pl.slice(x, [16, 64], [row * 16, 0]), acc)
            if i == 1:
                factor = pl.yield_(2.0)
            else:
                factor = pl.yield_(3.0)
            scaled = pl.create_tensor([16, 64], dtype=pl.FP32)
            scaled = scale(acc, factor, scaled)
            half = pl.slice(out, [16, 64], [(i % 2) * 16, 0])
            half = add_rows(scaled, half)
        return out


def gathered(x, table, n, acc, out):
    acc, out = acc.copy(), out.copy()
    for i in range(n):
        acc += x[table[i] * 16 : table[i] * 16 + 16]
        part = out[(i % 2) * 16 : (i % 2) * 16 + 16]
        part += acc * np.float32(2 if i == 1 else 3)
    return acc, out


TABLE = np.array([3, 1, 7, 0, 2, 4, 5, 6], np.int32)


def test_elements_decide_about_launches():
    x = numbers(128, 64)
    for n in (0, 1, 3, 8):
        acc, out = numbers(16, 64, seed=1), numbers(48, 64, seed=2)
        expected = gathered(x, TABLE, n, acc, out)
        run(Gather, x, TABLE, np.array([n], np.int32), acc, out)
        np.testing.assert_array_equal(acc, expected[0])
        np.testing.assert_array_equal(out, expected[1])  # the last rows keep their values


def test_the_saved_program(tmp_path):
    x, acc, out = numbers(128, 64), numbers(16, 64, seed=1), np.zeros((48, 64), np.float32)
    given = {"x": x, "table": TABLE, "count": np.array([5], np.int32), "acc": acc}
    expected = gathered(x, TABLE, 5, acc, out)
    compiled = run(Gather, *given.values(), out)
    file, source, result = tmp_path / "g.pmodel", tmp_path / "x.npz", tmp_path / "y.npz"
    file.write_bytes(compiled.pmodel)
    session = InferenceSession(file)
    assert [each.name for each in session.get_inputs()] == ["x", "table", "count", "acc"]
    assert [each.name for each in session.get_outputs()] == ["acc", "out"]
    given["acc"] = acc = numbers(16, 64, seed=1)
    for _ in range(2):
        for got, wanted in zip(session.run(None, given), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)
    np.savez(source, **given)
    runner = [
        sys.executable,
        "-m",
        "pto_mlir.tools.model_runner",
        "--model",
        file,
        "--input",
        source,
        "--output",
        result,
    ]
    for mode in ("functional", "timing", "checked"):
        done = subprocess.run([*map(str, runner), "--mode", mode], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(np.load(result)["out"], expected[1])


def test_combined_and_extracted(tmp_path):
    x, acc, out = numbers(128, 64), numbers(16, 64, seed=1), np.zeros((48, 64), np.float32)
    file, joined = tmp_path / "g.pmodel", tmp_path / "joined.pmodel"
    file.write_bytes(run(Gather, x, TABLE, np.array([1], np.int32), acc, out).pmodel)
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from pto_mlir.tools.native import pmodel_tool; sys.exit(pmodel_tool())"]
        + ["--combine", str(file), "-o", str(joined)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    acc = numbers(16, 64, seed=1)
    expected = gathered(x, TABLE, 4, acc, out * 0)
    got = InferenceSession(joined).run(None, {"x": x, "table": TABLE, "count": np.array([4], np.int32), "acc": acc})
    np.testing.assert_array_equal(got[1], expected[1])


@pl.program
class Numbers:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[16, 64], pl.FP32],
        times: pl.Scalar[pl.INT32],
        factor: pl.Scalar[pl.FP32],
        y: pl.InOut[pl.Tensor[[16, 64], pl.FP32]],
    ):
        for i in pl.range(0, times):
            y = add_rows(x, y)
        t = pl.create_tensor([16, 64], dtype=pl.FP32)
        t = scale(y, factor, t)
        y = add_rows(t, y)
        return y


def test_numbers_of_a_class_form_entry():
    x = numbers(16, 64)
    for times, factor in ((0, 0.5), (7, -2.0)):
        y = np.ones((16, 64), np.float32)
        expected = y.copy()
        for _ in range(times):
            expected += x
        expected += expected * np.float32(factor)
        run(Numbers, x, times, factor, y)
        np.testing.assert_array_equal(y, expected)


@pl.program
class Lone:
    @pl.function(type=pl.FunctionType.InCore)
    def main(
        self,
        x: pl.Tensor[[16, 64], pl.FP32],
        factor: pl.Scalar[pl.FP32],
        row: pl.Scalar[pl.INDEX],
        y: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    ):
        pl.store(pl.mul(pl.load(x, [0, 0], [16, 64]), factor), [row, 0], y)


def test_a_kernel_alone_takes_numbers():
    x, y = numbers(16, 64), np.ones((32, 64), np.float32)
    run(Lone, x, 2.5, 16, y)
    np.testing.assert_array_equal(y, np.concatenate([np.ones((16, 64), np.float32), x * np.float32(2.5)]))


@pl.program
class Fresh:
    """A loop that hands on tensors: each trip makes the next one."""

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[16, 64], pl.FP32],
        count: pl.Tensor[[2], pl.INT64],
        y: pl.InOut[pl.Tensor[[16, 64], pl.FP32]],
    ):
        n = pl.tensor.read(count, [0])
        width = pl.tensor.read(count, [1])
        current = pl.create_tensor([16, width], dtype=pl.FP32)
        current = scale(x, 1.0, current)
        i = 0
        while i < n:
            following = pl.create_tensor([16, width], dtype=pl.FP32)
            following = scale(current, 3.0, following)
            current = following
            i = i + 1
        if n > 2:
            chosen = pl.yield_(current)
        else:
            chosen = pl.yield_(x)
        y = add_rows(chosen, y)
        return y


def test_tensors_that_loops_and_branches_hand_on():
    x = numbers(16, 64)
    for n in (0, 1, 3, 6):
        y, expected = np.ones((16, 64), np.float32), x
        for _ in range(n if n > 2 else 0):
            expected = expected * np.float32(3)
        run(Fresh, x, np.array([n, 64], np.int64), y)
        np.testing.assert_array_equal(y, expected + np.float32(1))


@pl.jit
def where_positive(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    n = pl.tensor.read(x, [0, 0])
    if n > 0.0:
        with pl.at(level=pl.Level.CORE_GROUP):
            pl.store(pl.load(x, [0, 0], [16, 64]), [0, 0], y)
    return y


def test_a_scope_that_an_element_guards():
    x = numbers(16, 64)
    for sign in (1, -1):
        x[0, 0] = sign
        y = np.full((16, 64), 7, np.float32)
        where_positive(x, y)
        np.testing.assert_array_equal(y, x if sign > 0 else np.full((16, 64), 7, np.float32))


def line_of(text):
    return next(i for i, line in enumerate(open(__file__), 1) if text in line)


def test_faults_name_the_line():
    x, y = numbers(16, 64), np.ones((16, 64), np.float32)
    with pytest.raises(RuntimeError, match=r"stride 0 is not 64") as error:
        run(Fresh, x, np.array([1, 32], np.int64), y)
    assert f"test_pypto_decide.py:{line_of('current = scale(x, 1.0, current)')}" in str(error.value)
    acc, out = numbers(16, 64), numbers(48, 64)
    with pytest.raises(Exception, match="a view ends behind its tensor") as error:
        run(Gather, numbers(128, 64), TABLE + 6, np.array([2], np.int32), acc, out)
    assert f"test_pypto_decide.py:{line_of('acc = add_rows(pl.slice(x')}" in str(error.value)
    with pytest.raises(Exception, match="an index is outside") as error:
        run(Gather, numbers(128, 64), TABLE, np.array([9], np.int32), acc, out)
    assert f"test_pypto_decide.py:{line_of('row = pl.tensor.read(table, [i])')}" in str(error.value)
    run(Gather, numbers(128, 64), TABLE, np.array([1], np.int32), acc, out)  # the next run is not disturbed


@pl.program
class Shared:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, rows: pl.Tensor[[2], pl.INT32], y: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]):
        first = pl.slice(y, [16, 64], [pl.tensor.read(rows, [0]), 0])
        second = pl.slice(y, [16, 64], [pl.tensor.read(rows, [1]), 0])
        second = add_rows(first, second)
        return y


def test_two_views_of_one_tensor():
    y = numbers(64, 64)
    expected = y.copy()
    expected[32:48] += y[:16]
    run(Shared, np.array([0, 32], np.int32), y)
    np.testing.assert_array_equal(y, expected)
    with pytest.raises(Exception, match="share memory that the kernel writes"):
        run(Shared, np.array([0, 8], np.int32), y)


@pl.program
class WritesAnInput:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, rows: pl.Tensor[[2], pl.INT32], y: pl.Tensor[[64, 64], pl.FP32]):
        first = pl.slice(y, [16, 64], [pl.tensor.read(rows, [0]), 0])
        first = add_rows(first, first)


def test_an_input_is_not_written():
    with pytest.raises(InvalidOperationError, match="y is written by add_rows, but not declared as Out") as error:
        run(WritesAnInput, np.zeros(2, np.int32), numbers(64, 64))
    assert error.value.span["line"] == line_of("first = add_rows(first, first)")

"""Tasks as values, predicates, and launches of several blocks. Numbers against numpy."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import InvalidOperationError, ParserError, ParserSyntaxError, ParserTypeError
from pypto.runtime import RunConfig, run
from random_numbers import numbers

ROWS, COLS, BRANCHES = 16, 64, 4


@pl.function(type=pl.FunctionType.InCore)
def add_number(
    x: pl.Tensor[[128, 64], pl.FP32],
    row: pl.Scalar[pl.INDEX],
    number: pl.Scalar[pl.FP32],
    out: pl.Out[pl.Tensor[[128, 64], pl.FP32]],
) -> pl.Tensor[[128, 64], pl.FP32]:
    return pl.store(pl.add(pl.load(x, [row, 0], [16, 64]), number), [row, 0], out)


@pl.function(type=pl.FunctionType.InCore)
def of_block(
    x: pl.Tensor[[128, 64], pl.FP32], out: pl.InOut[pl.Tensor[[128, 64], pl.FP32]]
) -> pl.Tensor[[128, 64], pl.FP32]:
    for i in pl.range(pl.tile.get_block_idx(), 8, pl.tile.get_block_num()):
        t = pl.add(pl.load(x, [i * 16, 0], [16, 64]), pl.load(out, [i * 16, 0], [16, 64]))
        out = pl.store(t, [i * 16, 0], out)
    return out


@pl.program
class Phases:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[128, 64], pl.FP32], out: pl.Out[pl.Tensor[[128, 64], pl.FP32]]):
        with pl.manual_scope():
            tids = pl.array.create(4, pl.TASK_ID)
            for phase, (before,) in pl.range(2, init_values=(tids,)):
                after = pl.array.create(4, pl.TASK_ID)
                barrier = pl.system.task_dummy(deps=[before])
                for branch in pl.parallel(4):
                    row: pl.Scalar[pl.INDEX] = (phase * 4 + branch) * 16
                    out, tid = pl.submit(add_number, pl.no_dep(x), row, 1.0, out, deps=[barrier, before[branch], None])
                    after[branch] = tid
                tids = pl.yield_(after)
            out, last = pl.submit(add_number, x, 0, 2.0, out, deps=[tids[k] for k in range(4)])
        return out


def test_tasks_in_arrays():
    x, out = numbers(128, 64), np.zeros((128, 64), np.float32)
    run(Phases, x, out)
    expected = x + np.float32(1)
    expected[:16] = x[:16] + np.float32(2)
    np.testing.assert_array_equal(out, expected)


@pl.program
class Chains:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[128, 64], pl.FP32], out: pl.InOut[pl.Tensor[[128, 64], pl.FP32]]):
        with pl.manual_scope():
            for branch in pl.parallel(2):
                before = None
                for step in pl.range(4):
                    out, before = pl.submit(add_number, x, (step * 2 + branch) * 16, 1.0, out, deps=[before])
            for _, (first,) in pl.range(1, init_values=(None,)):
                out, last = pl.submit(add_number, x, 0, 2.0, out, deps=[first])
                first = pl.yield_(last)
        return out


def test_no_task_before_the_first_turn_of_a_loop():
    x, out = numbers(128, 64), np.zeros((128, 64), np.float32)
    run(Chains, x, out)
    expected = x + np.float32(1)
    expected[:16] = x[:16] + np.float32(2)
    np.testing.assert_array_equal(out, expected)


@pl.program
class Chain:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[128, 64], pl.FP32], out: pl.InOut[pl.Tensor[[128, 64], pl.FP32]]):
        tid = pl.system.task_invalid()
        with pl.manual_scope():
            for i in pl.range(8):
                out, tid = pl.submit(add_number, x, i * 16, 1.0, out, deps=[tid])
        return out


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_no_task_is_waited_for_by_none(platform):
    x, out = numbers(128, 64), np.zeros((128, 64), np.float32)
    run(Chain, x, out, config=RunConfig(platform=platform, mode="checked"))
    np.testing.assert_array_equal(out, x + np.float32(1))


@pytest.mark.parametrize("call", ["pl.system.task_invalid(x)", "pl.task_invalid(1)"])
def test_no_task_takes_no_operand(call):
    text = f"""
@pl.program
class P:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[128, 64], pl.FP32]):
        tid = {call}
        return x
"""
    with pytest.raises(ParserError, match="task_invalid"):
        pl.parse_program(text)


@pl.program
class Choice:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[128, 64], pl.FP32],
        gate: pl.Tensor[[8, 1], pl.INT32],
        out: pl.InOut[pl.Tensor[[128, 64], pl.FP32]],
    ):
        tids = pl.array.create(8, pl.TASK_ID)
        for i in pl.range(8):
            out, tid = pl.submit(add_number, x, i * 16, 1.0, out, predicate=(gate[i, 0] > 0), deps=[tids])
            tids[i] = tid
        return out


def test_a_predicate_retires_the_task():
    x, out = numbers(128, 64), numbers(128, 64, seed=1)
    gate = np.array([1, 0, 2, -1, 0, 0, 7, 1], np.int32).reshape(8, 1)
    expected = np.where(np.repeat(gate, 16, axis=0) > 0, x + np.float32(1), out)
    run(Choice, x, gate, out)
    np.testing.assert_array_equal(out, expected)


@pl.program
class Blocks:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[128, 64], pl.FP32],
        count: pl.Tensor[[2], pl.INT32],
        out: pl.InOut[pl.Tensor[[128, 64], pl.FP32]],
    ):
        with pl.spmd(3, sync_start=True) as tid:
            out = of_block(x, out)
        n = pl.tensor.read(count, [0])
        with pl.cluster():
            with pl.spmd(core_num=n):
                out = of_block(x, out)
        out, _ = pl.spmd_submit(of_block, x, out, core_num=pl.tensor.read(count, [1]), deps=[tid])
        return out


@pytest.mark.parametrize("count", [(1, 1), (3, 9), (8, 2)])
def test_blocks_of_a_launch(count):
    x, out = numbers(128, 64), numbers(128, 64, seed=1)
    expected = out + x + x + x
    run(Blocks, x, np.array(count, np.int32), out)
    np.testing.assert_array_equal(out, expected)


@pl.jit
def by_block(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    for i in pl.spmd(8, name_hint="rows"):
        y[i * 16 : i * 16 + 16, :] = pl.exp(x[i * 16 : i * 16 + 16, :])
    with pl.spmd(2):
        lane = pl.tile.get_block_idx()
        t = pl.load(y, [lane * 16, 0], [16, 64])
        y = pl.store(pl.add(t, 1.0), [lane * 16, 0], y)
    return y


@pl.jit.incore
def twice(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    y = pl.store(pl.mul(pl.load(x, [0, 0], [128, 64]), 2.0), [0, 0], y)
    return y


@pl.jit
def chained(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    middle = pl.create_tensor([128, 64], dtype=pl.FP32)
    middle, tid = pl.submit(twice, x, middle)
    with pl.at(level=pl.Level.CORE_GROUP, deps=[tid]) as scope:
        middle = pl.store(pl.add(pl.load(middle, [0, 0], [128, 64]), 1.0), [0, 0], middle)
    y, _ = pl.submit(twice, middle, y, deps=[scope])
    return y


def test_blocks_and_tasks_under_jit():
    x, y = numbers(128, 64), np.zeros((128, 64), np.float32)
    by_block(x, y)
    expected = np.exp(x.astype(np.float64))
    expected[:32] += 1
    np.testing.assert_allclose(y, expected, rtol=1e-5)
    chained(x, y)
    np.testing.assert_array_equal(y, (x * np.float32(2) + np.float32(1)) * np.float32(2))


HEAD = "import pypto.language as pl\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
KERNEL = "    def k(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:\n        return pl.store(pl.load(x, [0, 0], [16, 64]), [0, 0], y)\n"  # noqa: E501
MAIN = "    @pl.function(type=pl.FunctionType.Orchestration)\n    def main(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):\n"  # noqa: E501


@pytest.mark.parametrize(
    "line, error, message",
    [
        ("y, t = pl.submit(self.k, x, y, deps=[x])", ParserTypeError, "deps: x is no task"),
        ("y, t = pl.submit(self.k, x, y, deps=x)", ParserTypeError, "deps must be a list literal"),
        ("y, t = pl.submit(self.k, x, y, when=1)", ParserTypeError, "does not accept 'when='"),
        ("y, t = pl.submit(self.k, x, y, predicate=1)", ParserTypeError, "compare an element"),
        ("y, t = pl.submit(pl.add, x, y)", ParserTypeError, "pl.add is no kernel"),
        ("y, t = pl.spmd_submit(self.k, x, y)", ParserSyntaxError, "requires core_num="),
        ("y, t, u = pl.submit(self.k, x, y)", ParserTypeError, "2 values for 3 names"),
        ("t = pl.system.task_dummy(1)", ParserTypeError, "takes deps="),
    ],
)
def test_errors_of_tasks(line, error, message):
    with pytest.raises(error, match=message) as caught:
        pl.parse_program(HEAD + KERNEL + MAIN + f"        {line}\n        return y\n")
    assert caught.value.span["line"] == 9


@pytest.mark.parametrize(
    "lines, message",
    [
        (["t = pl.array.create(2, pl.TASK_ID)", "t[2] = pl.system.task_dummy()"], "no element 2"),
        (["with pl.spmd(2):", "    with pl.spmd(2):", "        y = self.k(x, y)"], "does not nest"),
    ],
)
def test_errors_of_an_orchestrator(lines, message):
    text = HEAD + KERNEL + MAIN + "".join(f"        {line}\n" for line in lines) + "        return y\n"
    with pytest.raises(InvalidOperationError, match=message):
        run(pl.parse_program(text), numbers(16, 64), np.zeros((16, 64), np.float32))


ROWS, COLS, PARTS = pl.dynamic("ROWS"), pl.dynamic("COLS"), pl.dynamic("PARTS")


@pl.function(type=pl.FunctionType.InCore)
def halves(
    x: pl.Tensor[[ROWS, COLS], pl.FP32, pl.TensorView(valid_shape=[ROWS, PARTS], layout=pl.TensorLayout.ND)],
    valid: pl.Scalar[pl.INDEX],
    y: pl.InOut[pl.Tensor[[ROWS, COLS], pl.FP32]],
) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
    t = pl.load(x, [0, 0], [16, 64], valid_shape=[16, valid])
    return pl.store(pl.mul(pl.tile.fillpad(t, pad_value=pl.PadValue.zero), 0.5), [0, 0], y)


@pl.program
class OpenSizes:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[ROWS, COLS], pl.FP32],
        valid: pl.Tensor[[PARTS], pl.INT32],
        y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
    ):
        parts = pl.tensor.dim(valid, 0)
        for i in pl.range(parts):
            n = pl.tensor.read(valid, [i])
            part = pl.slice(x, [16, 64], [i * 16, 0], valid_shape=[16, n])
            out = pl.slice(y, [16, 64], [i * 16, 0])
            out = halves(part, n, out)
        return y


def test_sizes_of_the_arguments():
    compiled = run(OpenSizes)
    for rows in (48, 128):
        x, valid = numbers(rows, 64), np.arange(1, rows // 16 + 1, dtype=np.int32) * 7
        y = np.full((rows, 64), 9, np.float32)
        compiled(x, valid, y)
        expected = np.where(np.arange(64) < np.repeat(valid, 16)[:, None], x / np.float32(2), np.float32(0))
        np.testing.assert_array_equal(y, expected)
        np.testing.assert_array_equal(compiled(x, valid), expected)
    with pytest.raises(ValueError, match="argument y: ROWS is 16 here and 128 elsewhere"):
        compiled(x, valid, y[:16])


@pl.program
class LastRows:
    @pl.function(type=pl.FunctionType.InCore)
    def first(
        self, x: pl.Tensor[[32, 64], pl.FP32], rows: pl.Scalar[pl.INDEX], y: pl.InOut[pl.Tensor[[32, 64], pl.FP32]]
    ) -> pl.Tensor[[32, 64], pl.FP32]:
        t = pl.load(x, [0, 0], [32, 64], valid_shape=[rows, 64])
        return pl.store(pl.fillpad(t, pad_value=pl.PadValue.zero), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[40, 64], pl.FP32],
        rows: pl.Tensor[[1], pl.INT32],
        y: pl.InOut[pl.Tensor[[32, 64], pl.FP32]],
    ):
        n = pl.tensor.read(rows, [0])
        y = self.first(pl.slice(x, [32, 64], [40 - n, 0]), n, y)
        return y


def test_the_last_rows_may_be_fewer():
    x, y = numbers(40, 64), numbers(32, 64, seed=1)
    for n in (8, 32):
        run(LastRows, x, np.array([n], np.int32), y)
        np.testing.assert_array_equal(y, np.concatenate([x[40 - n :], np.zeros((32 - n, 64), np.float32)]))
    with pytest.raises(RuntimeError, match="ends behind its tensor"):
        run(LastRows, x, np.array([0], np.int32), y)


@pl.function(type=pl.FunctionType.InCore)
def copy_rows(
    x: pl.Tensor[[16, 64], pl.FP32], y: pl.InOut[pl.Tensor[[16, 64], pl.FP32]]
) -> pl.Tensor[[16, 64], pl.FP32]:
    return pl.store(pl.load(x, [0, 0], [16, 64]), [0, 0], y)


@pl.program
class TooManyRows:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[16, 64], pl.FP32],
        rows: pl.Tensor[[1], pl.INT32],
        y: pl.InOut[pl.Tensor[[40, 64], pl.FP32]],
    ):
        part = pl.slice(y, [16, 64], [pl.tensor.read(rows, [0]), 0])
        part = copy_rows(x, part)
        return y


def test_a_kernel_that_writes_more_than_the_last_rows():
    x, y = numbers(16, 64), numbers(40, 64, seed=1)
    run(TooManyRows, x, np.array([24], np.int32), y)
    np.testing.assert_array_equal(y[24:], x)
    before = y.copy()
    with pytest.raises(RuntimeError, match="argument"):
        run(TooManyRows, x, np.array([25], np.int32), y)
    np.testing.assert_array_equal(y, before)

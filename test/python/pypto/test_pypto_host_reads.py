"""What the host level of several ranks reads of its arguments: numbers, elements, extents that follow. Expectations are
numpy's."""

import subprocess
import sys

import numpy as np
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from pypto import ir
from pypto.ir import CompiledProgram
from pypto.ir.distributed_compiled_program import DistributedCompiledProgram, DistributedConfig
from pypto.language.parser.diagnostics import PlacedError
from pypto.runtime import RunConfig
from random_numbers import numbers

W = 64
M = pl.dynamic("M")


def on(ranks):
    return RunConfig(distributed_config=DistributedConfig(device_ids=list(range(ranks))))


@pl.program
class Chosen:
    @pl.function(type=pl.FunctionType.InCore)
    def scaled(
        self, x: pl.Tensor[[M, W], pl.FP32], f: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[M, W], pl.FP32]]
    ) -> pl.Tensor[[M, W], pl.FP32]:
        for i in pl.range(0, M, 8):
            t = pl.load(x, [i, 0], [8, W], valid_shapes=[pl.min(M - i, 8), W])
            y = pl.store(pl.mul(t, f), [i, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def of_device(
        self, x: pl.Tensor[[M, W], pl.FP32], f: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[M, W], pl.FP32]]
    ) -> pl.Tensor[[M, W], pl.FP32]:
        return self.scaled(x, f, y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(
        self,
        x: pl.Tensor[[40, W], pl.FP32],
        table: pl.Tensor[[4, 2], pl.INT32],
        factors: pl.Tensor[[4], pl.FP32],
        count: pl.Scalar[pl.INT32],
        y: pl.Out[pl.Tensor[[40, W], pl.FP32]],
    ) -> pl.Tensor[[40, W], pl.FP32]:
        for i in pl.range(count):
            first = pl.tensor.read(table, [i, 0])
            rows = pl.tensor.read(table, [i, 1])
            if pl.tensor.read(factors, [i]) > 0.0:
                self.of_device(
                    pl.slice(x, [rows, W], [first, 0]),
                    pl.tensor.read(factors, [i]),
                    pl.slice(y, [rows, W], [first, 0]),
                    device=i % pld.world_size(),
                )
        return y


@pytest.mark.parametrize("ranks", [2, 3])
def test_elements_and_numbers_of_the_host_level(ranks):
    compiled = DistributedCompiledProgram(Chosen, on(ranks))
    x, factors = numbers(40, W), np.array([2.5, -1, 0.5, 3], np.float32)
    tables = [[[0, 5], [5, 8], [13, 20], [33, 7]], [[39, 1], [0, 8], [8, 9], [17, 16]]]
    for table in tables:
        for count in (1, 3, 4):
            y, expected = np.zeros_like(x), np.zeros_like(x)
            compiled(x, np.array(table, np.int32), factors, count, y)
            for (first, rows), factor in list(zip(table, factors, strict=True))[:count]:
                if factor > 0:
                    expected[first : first + rows] = x[first : first + rows] * factor
            np.testing.assert_array_equal(y, expected)


def test_what_the_host_level_reads_is_in_its_tensors():
    compiled = DistributedCompiledProgram(Chosen, on(2))
    x, table, factors = numbers(40, W), np.array([[0, 5]] * 4, np.int32), np.ones(4, np.float32)
    with pytest.raises(PlacedError, match="an index is outside 8"):
        compiled(x, table, factors, 5, np.zeros_like(x))
    with pytest.raises(PlacedError, match="a view ends behind its tensor"):
        compiled(x, np.array([[38, 5]] * 4, np.int32), factors, 4, np.zeros_like(x))
    y = np.zeros_like(x)
    compiled(x, table, factors, 1, y)  # the program stays usable
    np.testing.assert_array_equal(y[:5], x[:5])


def test_tables_that_are_too_large_for_sets_of_elements():
    """No .pmodel reads halves, so such a program is compiled for each set of them."""
    large = pl.parse_program(TABLE.format(type="FP16", extent=1 << 17))
    with pytest.raises(ValueError, match="argument table: the host level reads elements of it, which has 131072"):
        DistributedCompiledProgram(large, on(2))(np.zeros(1 << 17, np.float16), np.zeros((2, 8), np.float32))
    large = pl.parse_program(TABLE.format(type="INT32", extent=1 << 17))
    y = np.zeros((2, 8), np.float32)
    DistributedCompiledProgram(large, on(2))(np.arange(1 << 17, dtype=np.int32), y)
    np.testing.assert_array_equal(y, np.full((2, 8), 7.0) * [[0], [1]])


def test_booleans_and_halves():
    for kind, dtype in (("FP16", np.float16), ("INT64", np.int64), ("UINT8", np.uint8)):
        compiled = DistributedCompiledProgram(pl.parse_program(TABLE.format(type=kind, extent=3)), on(2))
        for last in (0, 1):
            y = np.zeros((2, 8), np.float32)
            compiled(np.array([1, 0, last], dtype), y)
            np.testing.assert_array_equal(y, np.full((2, 8), 7.0) * [[1], [last]])


TABLE = """
import pypto.language as pl

@pl.program
class Table:
    @pl.function(type=pl.FunctionType.InCore)
    def seven(self, y: pl.Out[pl.Tensor[[1, 8], pl.FP32]]) -> pl.Tensor[[1, 8], pl.FP32]:
        return pl.store(pl.tile.full([1, 8], pl.FP32, 7.0), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, table: pl.Tensor[[{extent}], pl.{type}], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
        for r in pl.range(2):
            if pl.tensor.read(table, [r * 2]) > 0:
                self.seven(pl.slice(y, [1, 8], [r, 0]), device=r)
        return y
"""


def expected_of(x, table, factors, count):
    y = np.zeros_like(x)
    for (first, rows), factor in list(zip(table, factors, strict=True))[:count]:
        if factor > 0:
            y[first : first + rows] = x[first : first + rows] * factor
    return y


def test_a_saved_program_reads_them_again(tmp_path):
    """In another process, without the source of the program."""
    ir.compile(Chosen, tmp_path / "out", distributed_config=DistributedConfig(device_ids=[0, 1, 2]))
    x, factors = numbers(40, W), np.array([2.5, -1, 0.5, 3], np.float32)
    table = np.array([[39, 1], [0, 8], [8, 9], [17, 16]], np.int32)
    np.savez(tmp_path / "in.npz", x=x, table=table, factors=factors)
    code = """
import sys
import subprocess
import sys

import numpy as np
import pto_mlir.pypto
pto_mlir.pypto.enable()
from pypto.ir import CompiledProgram
compiled = CompiledProgram.from_dir(sys.argv[1] + "/out")
held = np.load(sys.argv[1] + "/in.npz")
for count in (4, 1, 3):
    y = np.zeros_like(held["x"])
    compiled(held["x"], held["table"], held["factors"], count, y)
    np.save(f"{sys.argv[1]}/{count}.npy", y)
print(compiled.ranks, compiled.device_ids)
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("3 [0, 1, 2]\n", "")
    for count in (4, 1, 3):
        np.testing.assert_array_equal(np.load(tmp_path / f"{count}.npy"), expected_of(x, table, factors, count))


def test_a_saved_program_whose_bytes_are_wrong(tmp_path):
    ir.compile(Chosen, tmp_path, distributed_config=DistributedConfig(device_ids=[0, 1]))
    (file,) = tmp_path.glob("*.ir")
    data = file.read_bytes()
    for wrong in (data[:100], b"", data[:-1] + b"x", ir.serialize(Chosen.functions["main"])):
        file.write_bytes(wrong)
        with pytest.raises((ValueError, TypeError)):
            CompiledProgram.from_dir(tmp_path)
    file.unlink()
    with pytest.raises(ValueError, match=r"is not what ir\.compile wrote"):
        CompiledProgram.from_dir(tmp_path)


def test_one_model_for_all_numbers_and_elements(tmp_path):
    """The .pmodel decides in each run which devices launch what; it is run without the program, too."""
    from pto_mlir import runtime

    compiled = ir.compile(Chosen, tmp_path, distributed_config=DistributedConfig(device_ids=[0, 1, 2]))
    x, factors = numbers(40, W), np.array([2.5, -1, 0.5, 3], np.float32)
    session = runtime.InferenceSession(tmp_path / "Chosen.pmodel")
    for table in ([[39, 1], [0, 8], [8, 9], [17, 16]], [[0, 5], [5, 8], [13, 20], [33, 7]]):
        held = {"x": x, "table": np.array(table, np.int32), "factors": factors}
        for count in (4, 1, 0):
            (y,) = session.run(None, {**held, "count": np.array([count], np.int32)})
            np.testing.assert_array_equal(y, expected_of(x, table, factors, count))
    assert compiled.pmodel is not None and not compiled._sized


def test_model_runner_runs_it(tmp_path):
    """By the command for files, with inputs by their names."""
    ir.compile(Chosen, tmp_path, distributed_config=DistributedConfig(device_ids=[0, 1]))
    x, factors = numbers(40, W), np.array([2.5, 2, 0.5, 3], np.float32)
    table = np.array([[39, 1], [0, 8], [8, 9], [17, 16]], np.int32)
    np.savez(tmp_path / "in.npz", x=x, table=table, factors=factors, count=np.array([3], np.int32))
    words = ["--model", tmp_path / "Chosen.pmodel", "--input", tmp_path / "in.npz", "--output", tmp_path / "out.npz"]
    subprocess.run([sys.executable, "-m", "pto_mlir.tools.model_runner", *words], check=True, capture_output=True)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["y"], expected_of(x, table, factors, 3))


@pl.program
class Rounds:
    """Each round every device adds its number to what the one before it has, by a window."""

    @pl.function(type=pl.FunctionType.InCore)
    def pass_on(
        self,
        y: pl.InOut[pl.Tensor[[1, W], pl.FP32]],
        data: pld.DistributedTensor[[1, W], pl.FP32],
        signal: pld.DistributedTensor[[8, 1], pl.INT32],
    ) -> pl.Tensor[[1, W], pl.FP32]:
        ctx = pld.get_comm_ctx(data)
        mine = pl.load(y, [0, 0], [1, W])
        pld.tile.remote_store(mine, data, peer=(pld.rank(ctx) + 1) % pld.nranks(ctx), offsets=[0, 0])
        signal = pld.tensor.barrier(signal)
        got = pl.load(data, [0, 0], [1, W])
        y = pl.store(pl.add(mine, got), [0, 0], y)
        signal = pld.tensor.barrier(signal)
        return y

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, count: pl.Tensor[[1], pl.INT32], y: pl.InOut[pl.Tensor[[3, W], pl.FP32]]):
        data = pld.alloc_window_buffer([1, W], dtype=pl.FP32)
        signal = pld.alloc_window_buffer([8, 1], dtype=pl.INT32)
        for _ in pl.range(pl.tensor.read(count, [0])):
            for r in pl.range(pld.world_size()):
                self.pass_on(
                    pl.slice(y, [1, W], [r, 0]),
                    pld.window(data, [1, W], dtype=pl.FP32),
                    pld.window(signal, [8, 1], dtype=pl.INT32),
                    device=r,
                )
        return y


@pytest.mark.parametrize("mode", ["functional", "checked", "timing"])
def test_windows_of_a_loop_that_the_run_counts(mode, tmp_path):
    from pto_mlir import runtime

    compiled = DistributedCompiledProgram(Rounds, on(3))
    (tmp_path / "r.pmodel").write_bytes(compiled.pmodel)
    session = runtime.InferenceSession(tmp_path / "r.pmodel", mode=mode)
    for count in (3, 1, 0):
        y = numbers(3, W)
        expected = y.copy()
        for _ in range(count):
            expected = expected + np.roll(expected, 1, axis=0)
        session.run_in_place({"count": np.array([count], np.int32), "y": y})
        np.testing.assert_array_equal(y, expected)


def test_elements_that_launches_have_written():
    """The host level waits for what it reads."""

    @pl.program
    class Written:
        @pl.function(type=pl.FunctionType.InCore)
        def twice(self, x: pl.Tensor[[8], pl.INT32], y: pl.Out[pl.Tensor[[8], pl.INT32]]) -> pl.Tensor[[8], pl.INT32]:
            return pl.store(pl.add(pl.load(x, [0], [8]), pl.load(x, [0], [8])), [0], y)

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def main(self, x: pl.Tensor[[8], pl.INT32], y: pl.InOut[pl.Tensor[[8], pl.INT32]],
                 z: pl.InOut[pl.Tensor[[8], pl.INT32]]):  # fmt: skip
            y = self.twice(x, y, device=1)
            for r in pl.range(pl.tensor.read(y, [0])):
                z = self.twice(z, z, device=r % 2)
            return z

    compiled = DistributedCompiledProgram(Written, on(2))
    for rounds in (0, 1, 3):
        x, y, z = np.full(8, rounds, np.int32), np.zeros(8, np.int32), np.arange(8, dtype=np.int32)
        compiled(x, y, z)
        np.testing.assert_array_equal(y, 2 * x)
        np.testing.assert_array_equal(z, np.arange(8) << 2 * rounds)

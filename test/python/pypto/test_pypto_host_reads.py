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
    with pytest.raises(PlacedError, match="the run reads element 4 of table, whose axis 0 has 4"):
        compiled(x, table, factors, 5, np.zeros_like(x))
    with pytest.raises(PlacedError, match="the view is not inside its tensor: 38 [+] 5 of 40"):
        compiled(x, np.array([[38, 5]] * 4, np.int32), factors, 4, np.zeros_like(x))
    y = np.zeros_like(x)
    compiled(x, table, factors, 1, y)  # the program stays usable
    np.testing.assert_array_equal(y[:5], x[:5])


def test_elements_of_outputs_are_read_by_kernels():
    @pl.program
    class Written:
        @pl.function(type=pl.FunctionType.InCore)
        def copied(self, x: pl.Tensor[[8], pl.INT32], y: pl.Out[pl.Tensor[[8], pl.INT32]]) -> pl.Tensor[[8], pl.INT32]:
            return pl.store(pl.load(x, [0], [8]), [0], y)

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def main(self, x: pl.Tensor[[8], pl.INT32], y: pl.InOut[pl.Tensor[[8], pl.INT32]]):
            for r in pl.range(pl.tensor.read(y, [0])):
                y = self.copied(x, y, device=r)
            return y

    with pytest.raises(PlacedError, match="reads elements of its In parameters, and y is none"):
        compiled = DistributedCompiledProgram(Written, on(2))
        compiled(np.ones(8, np.int32), np.ones(8, np.int32))


def test_tables_that_are_too_large_or_of_other_types():
    large = pl.parse_program(TABLE.format(type="INT32", extent=1 << 17))
    with pytest.raises(ValueError, match="argument table: the host level reads elements of it, which has 131072"):
        DistributedCompiledProgram(large, on(2))(np.zeros(1 << 17, np.int32), np.zeros((2, 8), np.float32))


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

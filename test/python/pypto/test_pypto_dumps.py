"""Arguments of tasks (`enable_dump_args`): which are written down, when, and their elements against numpy."""

import json
from pathlib import Path

import numpy as np
import pypto.language as pl
import pytest
from pypto import ir
from pypto.language.parser.diagnostics import PlacedError
from pypto.runtime import RunConfig, run
from random_numbers import numbers
from simpler_setup.tools import dump_viewer


def entries(folder):
    """The manifest's entries, each with its `elements`."""
    folder = Path(folder) / "dfx_outputs" / "args_dump"
    manifest = json.loads((folder / "args_dump.json").read_text())
    for each in manifest["args"]:
        data = dump_viewer.read_arg_data(folder / manifest["bin_file"], each["bin_offset"], each["bin_size"])
        count = int(np.prod(each["shape"]))
        held = dump_viewer.decode_elements(data, each["dtype"], count)
        each["elements"] = np.array(held, np.float32).reshape(each["shape"])
    return manifest["args"]


def seen(folder):
    return [(each["task_id"], each["arg_name"], each["role"], each["stage"]) for each in entries(folder)]


@pl.jit.inline
def plus_one(a: pl.Tensor, c: pl.Tensor):
    pl.dump_tag(a)
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.add(pl.load(a, [0, 0], [16, 32]), 1.0), [0, 0], c)
    return c


@pl.jit
def tagged(a: pl.Tensor, c: pl.Out[pl.Tensor]):
    between = pl.create_tensor([16, 32], dtype=pl.FP32)
    pl.dump_tag(between)
    between = plus_one(a, between)
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.mul(pl.load(between, [0, 0], [16, 32]), 2.0), [0, 0], c)
    return c


@pl.jit.incore
def add_into(x: pl.Tensor, y: pl.InOut[pl.Tensor]):
    h, w = x.shape
    pl.store(pl.add(pl.load(x, [0, 0], [h, w]), pl.load(y, [0, 0], [h, w])), [0, 0], y)
    return y


@pl.jit
def parts(x: pl.Tensor, y: pl.InOut[pl.Tensor]):
    y = add_into(x[0:4, 0:16], y)
    y = add_into(x[4:8, 16:32], y)
    return y


first, last = "0x0000000000000000", "0x0000000000000001"


def test_a_tag_holds_until_a_launch_has_written_the_tensor(tmp_path):
    a, c = numbers(16, 32), np.zeros((16, 32), np.float32)
    tagged(a, c, config=RunConfig(enable_dump_args=1, save_kernels_dir=tmp_path))
    np.testing.assert_array_equal(c, (a + 1) * 2)
    got = entries(tmp_path)
    assert [(each["task_id"], each["role"], each["stage"]) for each in got] == [
        (first, "input", "before_dispatch"),
        (first, "output", "after_completion"),
    ]
    np.testing.assert_array_equal(got[0]["elements"], a)
    np.testing.assert_array_equal(got[1]["elements"], a + 1)


def test_level_2_shows_all_tensors_of_all_tasks(tmp_path, capsys):
    x, y = numbers(8, 32), numbers(4, 16, seed=1)
    before = y.copy()
    config = RunConfig(enable_dump_args=2, enable_chip_swimlane=1, save_kernels_dir=tmp_path)
    parts(x, y, config=config)
    np.testing.assert_array_equal(y, x[:4, :16] + before + x[4:, 16:])
    got = entries(tmp_path)
    assert [(each["task_id"], each["arg_index"], each["stage"]) for each in got] == [
        (task, index, stage)
        for task in (first, last)
        for index, stage in ((0, "before_dispatch"), (1, "before_dispatch"), (1, "after_completion"))
    ]
    np.testing.assert_array_equal(got[3]["elements"], x[4:, 16:])
    np.testing.assert_array_equal(got[4]["elements"], got[2]["elements"])
    np.testing.assert_array_equal(got[5]["elements"], y)
    assert got[3]["strides"] == [32, 1] and got[3]["start_offset"] == 4 * 32 + 16 and not got[3]["is_contiguous"]
    assert got[1]["is_contiguous"]
    assert len(json.loads((tmp_path / "dfx_outputs" / "chip_swimlane_records.json").read_text())["tasks"]) == 2
    dump_viewer.main(tmp_path / "dfx_outputs" / "args_dump")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6 and lines[3].startswith(f"{last} add_into x before_dispatch 4x16 float32: ")


@pl.program
class Submitted:
    @pl.function(type=pl.FunctionType.InCore)
    def half(
        self, x: pl.Tensor[[16, 32], pl.BF16], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        return pl.store(pl.mul(pl.cast(pl.load(x, [0, 0], [16, 32]), target_type=pl.FP32), 0.5), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[16, 32], pl.BF16],
        y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
        z: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
    ):
        y, _ = pl.submit(self.half, x, y)
        with pl.spmd(1, dumps=[x]):
            z = self.half(x, z)
        z, _ = pl.submit(self.half, x, z, dumps=[x, z])
        return y, z


def test_what_calls_mark(tmp_path):
    import ml_dtypes

    x = numbers(16, 32).astype(ml_dtypes.bfloat16)
    y, z = np.zeros((16, 32), np.float32), np.zeros((16, 32), np.float32)
    for program in (Submitted, ir.deserialize(ir.serialize(Submitted))):
        run(program, x, y, z, config=RunConfig(enable_dump_args=1, save_kernels_dir=tmp_path))
        np.testing.assert_array_equal(z, x.astype(np.float32) * 0.5)
        assert seen(tmp_path) == [
            (last, "x", "input", "before_dispatch"),
            ("0x0000000000000002", "x", "input", "before_dispatch"),
            ("0x0000000000000002", "y", "output", "after_completion"),
        ]
        np.testing.assert_array_equal(entries(tmp_path)[0]["elements"], x.astype(np.float32))


@pl.jit
def blocks(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    for block in pl.spmd(2, dumps=[x]):
        y[block * 8 : block * 8 + 8, :] = pl.add(x[block * 8 : block * 8 + 8, :], 1.0)


def test_each_block_is_a_task(tmp_path):
    x, y = numbers(16, 32), np.zeros((16, 32), np.float32)
    blocks(x, y, config=RunConfig(enable_dump_args=1, save_kernels_dir=tmp_path))
    np.testing.assert_array_equal(y, x + 1)
    assert seen(tmp_path) == [(task, "x", "input", "before_dispatch") for task in (first, last)]


@pl.program
class Decides:
    @pl.function(type=pl.FunctionType.InCore)
    def twice(
        self, x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        return pl.store(pl.mul(pl.load(x, [0, 0], [16, 32]), 2.0), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[16, 32], pl.FP32],
        n: pl.Tensor[[1], pl.INT32],
        y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        for _i in pl.range(pl.tensor.read(n, [0])):
            y = self.twice(x, y)
        return y


def test_what_cannot_be_shown(tmp_path):
    x, y = numbers(16, 32), np.zeros((16, 32), np.float32)
    config = RunConfig(enable_dump_args=2, save_kernels_dir=tmp_path)
    with pytest.raises(PlacedError, match="main decides at run time what it launches"):
        run(Decides, x, np.ones(1, np.int32), y, config=config)
    text = """
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        return pl.store(pl.load(x, [0, 0], [16, 32]), [0, 0], y)
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 32], pl.FP32], z: pl.Tensor[[8], pl.FP32],
             y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        y, t = pl.submit(self.k, x, y, dumps=[z])
        return y
"""
    with pytest.raises(PlacedError, match="z is no argument of k") as caught:
        pl.parse_program(text)
    assert caught.value.span["line"] == 11
    with pytest.raises(ValueError, match="is no such type|are not shown"):
        dump_viewer.decode_elements(b"1234", "float9", 1)

"""`passes_dump`: a file for each step of the compiler, which are programs."""

import re

import numpy as np
import pypto.language as pl
import pytest
from pypto import ir
from pypto.ir.pass_manager import PassManager
from pypto.runtime import RunConfig, run

STEPS = ["OutlineIncoreScopes", "ExpandMixedKernel", "ConvertTensorToTileOps", "AllocateMemoryAddr"]
FILES = ["00_frontend.py", *(f"{number:02}_after_{step}.py" for number, step in enumerate(STEPS, 1))]


@pl.program
class Mixed:
    @pl.function
    def main(
        self,
        a: pl.Tensor[[32, 32], pl.FP32],
        b: pl.Tensor[[32, 32], pl.FP32],
        y: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="sums"):
            y = pl.assemble(y, pl.matmul(pl.add(a, b), pl.sub(a, b)), [0, 0])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="twice"):
            y = pl.assemble(y, pl.mul(pl.add(y, b), 2.0), [0, 0])
        return y


@pl.program
class Two:
    @pl.function
    def main(
        self, x: pl.Tensor[[32, 32], pl.FP32], y: pl.Out[pl.Tensor[[32, 32], pl.FP32]]
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="twice"):
            y = pl.assemble(y, pl.mul(pl.exp(x), pl.add(x, 1.0)), [0, 0])
        return y


def read(folder):
    """The programs by file. Behind the second step tiles come from queues where tensors still are: it is text."""
    texts = {each.name: each.read_text() for each in sorted(folder.iterdir())}
    return {name: text if name == FILES[2] else pl.parse_program(text) for name, text in texts.items()}


def kinds(program):
    return {each.name: each.func_type.name for each in program.functions.values()}


def test_a_file_for_each_step(tmp_path):
    compiled = ir.compile(Mixed, output_dir=tmp_path)
    steps = read(compiled.output_dir / "passes_dump")
    assert list(steps) == FILES
    assert list(kinds(steps[FILES[0]])) == ["main"]
    assert kinds(steps[FILES[1]]) == {"sums": "InCore", "twice": "InCore", "main": "Orchestration"}
    split = {"sums_aic": "AIC", "sums_aiv": "AIV", "sums": "Group", "main": "Orchestration"}
    assert re.findall(r"def (\w+)", steps[FILES[2]]) == ["sums_aic", "sums_aiv", "sums", "twice", "main"]
    assert kinds(steps[FILES[3]]) == split | {"twice": "AIV"}
    assert ir.structural_equal(steps[FILES[3]], PassManager.get_strategy().run_passes(Mixed))
    assert "twice" in kinds(steps[FILES[4]])


def test_the_last_step_has_addresses_and_computes_the_same(tmp_path):
    PassManager.get_strategy().run_passes(Two, dump_ir=True, output_dir=tmp_path)
    last = (tmp_path / FILES[-1]).read_text()
    places = {int(each) for each in re.findall(r"pl\.const\((\d+), pl\.INT64\), 4096", last)}
    assert len(places) > 1 and not any(each % 32 for each in places), last
    x = np.random.default_rng(3).standard_normal((32, 32)).astype(np.float32)
    outputs = [np.zeros_like(x), np.zeros_like(x)]
    run(Two, x, outputs[0])
    run(pl.parse_program(last), outputs[1], x)  # what the scope writes comes first
    np.testing.assert_array_equal(*outputs)
    with pytest.raises(ValueError, match="needs an output_dir"):
        PassManager.get_strategy().run_passes(Two, dump_ir=True)


def test_files_without_a_run_of_class_form(tmp_path):
    config = RunConfig(codegen_only=True, save_kernels=True, save_kernels_dir=tmp_path, dump_passes=True)
    y = np.zeros((32, 32), np.float32)
    run(Two, y, y.copy(), config=config)
    held = {each.name for each in tmp_path.iterdir()}
    assert held >= {"kernel_config.py", "kernels", "orchestration", "passes_dump", "ptoas", "Two.pmodel"}
    assert list(read(tmp_path / "passes_dump")) == FILES
    assert not y.any()

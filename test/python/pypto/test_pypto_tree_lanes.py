"""Kernels of both vector cores (pl.split_aiv without halves) in the output tree: one task, whose kernel asks which core
it is on."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.backend import output_tree
from pypto.ir.pass_manager import PassManager
from pypto.runtime.orchestration import OrchestrationTree
from random_numbers import numbers
from test_pypto_tree_groups import written


@pl.program
class Blocks:
    """Each vector core of each block adds up its rows four times."""

    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self, a: pl.Tensor[[128, 64], pl.FP32], c: pl.Out[pl.Tensor[[128, 64], pl.FP32]]
    ) -> pl.Tensor[[128, 64], pl.FP32]:
        for block in pl.spmd(2):
            for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
                base = block * 64 + lane * 32
                acc = pl.load(a, [base, 0], [32, 64])
                for turn in pl.pipeline(1, 4, stage=2):
                    acc = pl.add(acc, pl.load(a, [base, 0], [32, 64]))
                c = pl.store(acc, [base, 0], c)
        return c


@pl.program
class Scope:
    """The same in a scope, on tensors; lanes do different things."""

    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self, a: pl.Tensor[[64, 64], pl.FP32], c: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="lanes"):
            for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
                rows = pl.slice(a, [32, 64], [lane * 32, 0])
                c = pl.assemble(c, pl.mul(rows, 3.0), [lane * 32, 0])
        return c


@pytest.mark.parametrize("processor", ["a3", "a5"])
@pytest.mark.parametrize("program, factor, blocks", [(Blocks, 4, 2), (Scope, 3, 1)])
def test_both_vector_cores_run_one_task(tmp_path, program, factor, blocks, processor):
    files = written(tmp_path, program, processor)
    text = files["orchestration/main.cpp"]
    assert "MixedKernels kernels_t0 = {INVALID_KERNEL_ID, 0, 0};" in text
    assert text.count("rt_submit_") == 1 and ("_num(2);" in text) == (blocks == 2)
    kernel = next(text for path, text in files.items() if path.startswith("kernels/aiv/"))
    assert "get_subblockid()" in kernel
    a = numbers(64 * blocks, 64)
    c = np.zeros_like(a)
    OrchestrationTree(tmp_path, processor)(a, c)
    np.testing.assert_allclose(c, factor * a, rtol=1e-6)


def test_a_program_as_it_is_compiled_has_one_kernel(tmp_path):
    program = PassManager.get_strategy().run_passes(Blocks)
    text = written(tmp_path, program)["orchestration/main.cpp"]
    assert "MixedKernels kernels_t0 = {INVALID_KERNEL_ID, 0, 0};" in text
    a = numbers(128, 64)
    c = np.zeros_like(a)
    OrchestrationTree(tmp_path)(a, c)
    np.testing.assert_allclose(c, 4 * a, rtol=1e-6)


@pl.program
class Twice:
    """A second region may read what the other core has written in the first one."""

    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self, a: pl.Tensor[[64, 64], pl.FP32], c: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP):
            for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
                c = pl.assemble(c, pl.mul(pl.slice(a, [32, 64], [lane * 32, 0]), 3.0), [lane * 32, 0])
            for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
                c = pl.assemble(c, pl.add(pl.slice(c, [32, 64], [lane * 32, 0]), 1.0), [lane * 32, 0])
        return c


def test_several_regions_are_several_tasks(tmp_path):
    text = written(tmp_path, Twice)["orchestration/main.cpp"]
    assert "MixedKernels" not in text and text.count("rt_submit_aiv_task(") == 4
    a, c = numbers(64, 64), numbers(64, 64, seed=1)
    OrchestrationTree(tmp_path)(a, c)
    np.testing.assert_allclose(c, 3 * a + 1, rtol=1e-5, atol=1e-6)


def test_the_calls_of_march_have_a_kernel_of_each_core():
    files, _ = output_tree.tree_files(Scope, today=False)
    assert "MixedKernels" not in files.get("orchestration/main.cpp", "")

"""Tasks of both kinds of core in the output tree: a scope of products and vector operations is submitted as one task,
whose kernels are C++ files of their own."""

import re
import sys
from pathlib import Path

import numpy as np
import pypto.language as pl
import pytest
from pypto.backend import output_tree
from pypto.ir import pto_codegen
from pypto.runtime.orchestration import OrchestrationTree

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))

import task_programs  # noqa: E402

both = pytest.mark.parametrize("processor", ["a3", "a5"])


def written(tmp_path, program, processor="a3", today=True):
    files, left_out = output_tree.tree_files(program, today, processor)
    assert not left_out, left_out
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return files


@both
@pytest.mark.parametrize("name", task_programs.PROGRAMS)
def test_the_tree_computes_what_numpy_does(tmp_path, name, processor):
    files = written(tmp_path, task_programs.PROGRAMS[name][0], processor)
    text = files["orchestration/main.cpp"]
    assert text.count("rt_submit_task(") == 1 and "rt_submit_ai" not in text
    arguments = task_programs.arguments_of(name)
    OrchestrationTree(tmp_path, processor)(*arguments)
    np.testing.assert_allclose(arguments[-1], task_programs.expected(name), rtol=1e-4, atol=1e-5)


def test_each_function_has_a_file_with_its_entry(tmp_path):
    files = written(tmp_path, task_programs.Sums)
    assert sorted(path for path in files if path.startswith(("kernels/", "ptoas/"))) == [
        "kernels/aic/sums_aic.cpp",
        "kernels/aiv/sums_aiv.cpp",
        "ptoas/sums.cpp",
        "ptoas/sums.pto",
    ]
    for core in ("aic", "aiv"):
        text = files[f"kernels/{core}/sums_{core}.cpp"]
        assert text.count("kernel_entry(") == 1 and "__global__" not in text
        assert text.count("static AICORE void sums_ai") == 2  # both, each compiled for its kind of core
        assert f"sums_{core}(y, a, b, gm_pipe_buffer);" in text or f"sums_{core}(a, b, y, gm_pipe_buffer);" in text
    config = files["kernel_config.py"]
    assert re.findall(r"'core_type': '(\w+)'", config) == ["aic", "aiv"] and config.count("'group': 'sums'") == 2
    assert "MixedKernels kernels_t0 = {0, 1, 1};" in files["orchestration/main.cpp"]


def test_queues_through_global_memory_are_an_argument_of_the_task(tmp_path):
    text = written(tmp_path, task_programs.Blocks)["orchestration/main.cpp"]
    words = re.search(
        r"gm_pipe_buffer_shapes\[1\] = {static_cast<uint32_t>\(\(static_cast<uint32_t>\(n\) \* (\d+)\)\)};", text
    )
    assert words and int(words[1]) % 2048 == 0, text
    assert "params_t0.add_output(gm_pipe_buffer);" in text
    # Tiles go from core to core on a5.
    files = output_tree.tree_files(task_programs.Blocks, True, "a5")[0]
    assert "gm_pipe_buffer" not in "".join(files.values())
    assert "TPipe<0, Direction::DIR_V2C, " in "".join(files.values()) or "DIR_C2V, " in "".join(files.values())


@pl.program
class Shared:
    """The tensor that the task writes is one that the cube core reads as well."""

    @pl.function
    def main(
        self, w: pl.Tensor[[32, 32], pl.FP32], y: pl.InOut[pl.Tensor[[64, 32], pl.FP32]]
    ) -> pl.Tensor[[64, 32], pl.FP32]:
        upper = pl.slice(y, [32, 32], [0, 0])
        lower = pl.slice(y, [32, 32], [32, 0])
        with pl.at(level=pl.Level.CORE_GROUP):
            lower = pl.assemble(lower, pl.add(pl.matmul(upper, w), 1.0), [0, 0])
        return y


def test_a_task_whose_tensors_share_memory_is_several(tmp_path):
    files = written(tmp_path, Shared)
    assert "rt_submit_task(" not in files["orchestration/main.cpp"]
    w, y = np.eye(32, dtype=np.float32) * 2, np.ones((64, 32), np.float32)
    OrchestrationTree(tmp_path)(w, y)
    np.testing.assert_array_equal(y, np.vstack([np.ones((32, 32)), np.full((32, 32), 3.0)]))


@pl.program
class Unnamed:
    @pl.function
    def main(
        self,
        a: pl.Tensor[[32, 32], pl.FP32],
        b: pl.Tensor[[32, 32], pl.FP32],
        y: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP):
            y = pl.assemble(y, pl.matmul(pl.add(a, b), pl.sub(a, b)), [0, 0])
        return y


def test_the_calls_of_march_have_several_tasks(tmp_path):
    files = written(tmp_path, Unnamed, today=False)
    assert files["orchestration/main.cpp"].count("pto2_rt_submit_task(") > 1
    arguments = task_programs.arguments_of("sums")
    OrchestrationTree(tmp_path)(*arguments)
    np.testing.assert_allclose(arguments[-1], task_programs.expected("sums"), rtol=1e-4, atol=1e-5)


def test_without_the_assembler_both_functions_stand_in_each_file(tmp_path):
    files = pto_codegen.generate(task_programs.Sums, tmp_path, skip_ptoas=True, today=True)
    for core in ("aic", "aiv"):
        assert files[f"kernels/{core}/sums_{core}.pto"].count("func.func @sums_ai") == 2

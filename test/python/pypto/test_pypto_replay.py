"""debug/run.py and pypto.runtime.debug.replay: folders of programs that run again, edited or not."""

import ast
import ctypes
import json
import subprocess
import sys

import numpy as np
import pypto.language as pl
import pytest
from pypto import ir
from pypto.backend import BackendType
from pypto.ir.compiled_program import CompiledProgram, ParamInfo
from pypto.runtime import RunConfig, device_runner
from pypto.runtime.debug import replay, write_run_script
from random_numbers import numbers

PYTHON = "/usr/bin/python3"
HAS_TORCH = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="no interpreter with torch")


def zeros(*shape):
    return np.zeros(shape, np.float32)


@pl.program
class Sum:
    @pl.function(type=pl.FunctionType.InCore)
    def add(
        self, x: pl.Tensor[[8, 32], pl.FP32], by: pl.Scalar[pl.FP32], out: pl.Out[pl.Tensor[[8, 32], pl.FP32]]
    ) -> pl.Tensor[[8, 32], pl.FP32]:
        return pl.store(pl.add(pl.load(x, [0, 0], [8, 32]), by), [0, 0], out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[8, 32], pl.FP32], by: pl.Scalar[pl.FP32]) -> pl.Tensor[[8, 32], pl.FP32]:
        made = pl.create_tensor([8, 32], dtype=pl.FP32)
        made = self.add(x, by, made)
        return made


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    ir.compile(Sum, output_dir=folder, dump_passes=False)
    return folder


@pl.jit
def double(a: pl.Tensor, b: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        tile = pl.load(a, [0, 0], [16, 32])
        pl.store(pl.add(tile, tile), [0, 0], b)
    return b


def test_the_folder_of_a_jit_call_is_written_when_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", str(tmp_path))
    a, b = numbers(16, 32), zeros(16, 32)
    double._cache.clear()
    double(a, b)
    assert not list(tmp_path.iterdir())
    (compiled,) = double._cache.values()
    script = compiled.output_dir / "debug" / "run.py"
    assert compiled.output_dir == compiled.output_dir and compiled.output_dir.parent == tmp_path
    text = script.read_text()
    ast.parse(text)
    assert "    a = torch.randn((16, 32), dtype=torch.float32)" in text
    assert "    b = torch.zeros((16, 32), dtype=torch.float32)" in text
    again = zeros(16, 32)
    replay(compiled.output_dir, a, again)
    np.testing.assert_array_equal(again, a + a)


def test_two_programs_of_one_name_have_folders_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", str(tmp_path))
    folders = [ir.compile(Sum, dump_passes=False).output_dir for _ in range(2)]
    assert folders[0] != folders[1] and all((each / "Sum.pmodel").is_file() for each in folders)


def test_numbers_that_were_folded_are_no_arguments_of_the_folder(tmp_path):
    @pl.jit
    def times(a: pl.Tensor, factor: pl.Scalar[pl.FP32], b: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            pl.store(pl.mul(pl.load(a, [0, 0], [8, 32]), factor), [0, 0], b)
        return b

    a, b = numbers(8, 32), zeros(8, 32)
    compiled = times.compile(a, 3.0, b)
    ir.program_compile.write_files(compiled, tmp_path)
    for recompile in (True, False):
        b[:] = 0
        replay(tmp_path, a, b, recompile=recompile)
        np.testing.assert_array_equal(b, a * np.float32(3))


@pytest.mark.parametrize("recompile", [False, True])
def test_replay_writes_tensors_that_are_returned(tree, recompile, capsys):
    x, made = numbers(8, 32), zeros(8, 32)
    replay(tree, x, ctypes.c_float(0.25), made, recompile=recompile)
    np.testing.assert_array_equal(made, x + np.float32(0.25))
    assert "[execute]" in capsys.readouterr().out


def edited(folder):
    """A folder whose kernel subtracts."""
    ir.compile(Sum, output_dir=folder, dump_passes=False)
    kernel = folder / "ptoas" / "add.pto"
    text = kernel.read_text()
    assert "pto.tadds" in text
    kernel.write_text(text.replace("pto.tadds", "pto.tsubs"))
    return folder


def test_replay_runs_edited_kernels(tmp_path):
    edited(tmp_path)
    x, made = numbers(8, 32), zeros(8, 32)
    replay(tmp_path, x, 0.25, made)
    np.testing.assert_array_equal(made, x - np.float32(0.25))
    for without in ({"recompile": False}, {"rebuild_from_pto": False}):
        replay(tmp_path, x, 0.25, made, **without)
        np.testing.assert_array_equal(made, x + np.float32(0.25))


def test_records_are_of_the_program_as_compiled(tmp_path, tree):
    x, made = numbers(8, 32), zeros(8, 32)
    config = RunConfig(enable_dep_gen=True)
    replay(tree, x, 1.0, made, config=config)
    assert [each["name"] for each in json.loads((tree / "dfx_outputs/deps.json").read_text())["tasks"]] == ["add"]
    np.testing.assert_array_equal(made, x + 1)
    edited(tmp_path)
    with pytest.raises(ValueError, match=r"add\.pto: was edited, .* --no-recompile"):
        replay(tmp_path, x, 1.0, made, config=config)
    replay(tmp_path, x, 1.0, made, config=config, recompile=False)


GOLDEN = """import ctypes
import numpy as np
import torch

__outputs__ = ["out"]
RTOL = ATOL = 1e-6


def generate_inputs(params):
    x = torch.arange(256, dtype=torch.float32).reshape(8, 32)
    return [("x", x), ("by", ctypes.c_float(2.5)), ("out", torch.zeros(8, 32))]


def compute_golden(tensors, params):
    tensors["out"][:] = tensors["x"] + WANTED
"""


def script(folder, *flags):
    return subprocess.run([PYTHON, str(folder / "debug" / "run.py"), *flags], capture_output=True, text=True)


@needs_torch
def test_golden_py_gives_the_arguments_and_checks_them(tree):
    golden = tree / "golden.py"
    try:
        golden.write_text(GOLDEN.replace("WANTED", "2.5"))
        done = script(tree)
        assert done.returncode == 0 and "Golden validation: PASSED" in done.stdout, done.stderr
        golden.write_text(GOLDEN.replace("WANTED", "2.0"))
        assert "AssertionError: output out: 256 of 256 elements differ" in script(tree).stderr
    finally:
        golden.unlink()


@needs_torch
def test_the_script_runs_with_its_own_arguments(tree):
    file = tree / "debug" / "run.py"
    held = file.read_text()
    text = held.replace("by = None  # TODO: a scalar; write its value", "by = 0.5")
    check = "    import torch\n\n    assert torch.equal(result, x + 0.5)\n    print('compared')\n"
    try:
        file.write_text(text.replace('as the run left them."""\n', f'as the run left them."""\n{check}'))
        done = script(tree)
        assert done.returncode == 0 and "compared" in done.stdout, done.stderr
    finally:
        file.write_text(held)


def test_the_script_takes_arrays_of_a_file(tree, tmp_path):
    x = numbers(8, 32)
    np.savez(tmp_path / "in.npz", x=x, by=np.float32(2), made=zeros(8, 32))
    for flags in ([], ["--no-recompile"]):
        command = [sys.executable, str(tree / "debug/run.py"), str(tmp_path / "in.npz"), str(tmp_path / "out.npz")]
        subprocess.run([*command, *flags], check=True)
        np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["made"], x + np.float32(2))


def test_the_script_can_be_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTO_EMIT_DEBUG_RUNNER", "False")
    ir.compile(Sum, output_dir=tmp_path, dump_passes=False, backend_type=BackendType.PTO)
    assert not (tmp_path / "debug").exists() and (tmp_path / "kernel_config.py").is_file()


def test_lines_of_the_script(tmp_path):
    kinds = ir.ParamDirection
    params = [
        ParamInfo("a", kinds.In, [-1, 32], pl.FP16),
        ParamInfo("b", kinds.InOut, [4], pl.INT32),
        ParamInfo("c", kinds.In, [4], pl.BOOL),
        ParamInfo("d", kinds.In, None, pl.INDEX),
        ParamInfo("e", kinds.In, [2], pl.FP8E4M3FN),
        ParamInfo("f", kinds.In, [2], pl.FP4),
        ParamInfo("g", kinds.Out, [2], pl.BF16),
    ]
    text = write_run_script(tmp_path, params, platform="a5sim").read_text()
    ast.parse(text)
    for line in (
        "a = torch.randn((1, 32), dtype=torch.float16)  # NOTE: 1 stands for each dynamic dimension",
        "b = torch.randint(0, 8, (4,), dtype=torch.int32)",
        "c = torch.randint(0, 2, (4,), dtype=torch.bool)",
        "d = None  # TODO: a scalar; write its value",
        "e = torch.randn((2,)).to(torch.float8_e4m3fn)",
        "f = None  # TODO: a tensor of fp4, a type that torch does not have",
        "g = torch.zeros((2,), dtype=torch.bfloat16)",
        "return [a, b, c, d, e, f, g]",
    ):
        assert f"\n    {line}\n" in text
    assert 'default_platform="a5sim"' in text


def test_bad_folders_and_arguments(tmp_path, tree):
    with pytest.raises(FileNotFoundError, match=r"has neither kernel_config\.py nor compiled_meta\.json"):
        replay(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"golden\.py: no such file"):
        replay(tree, validate=True)
    x = numbers(8, 32)
    with pytest.raises(TypeError, match="expects 3 arguments"):
        replay(tree, x)
    with pytest.raises(TypeError, match="expects 2 arguments and 1 returned, not 4"):
        replay(tree, x, 1.0, x.copy(), x.copy(), recompile=False)


@pl.program
class Sum2:
    @pl.function(type=pl.FunctionType.InCore)
    def add(
        self, a: pl.Tensor[[16, 32], pl.FP32], by: pl.Scalar[pl.FP32], out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        return pl.store(pl.add(pl.load(a, [0, 0], [16, 32]), by), [0, 0], out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, a: pl.Tensor[[16, 32], pl.FP32], by: pl.Scalar[pl.FP32], out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        out = self.add(a, by, out)
        return out


BY_HAND = """
import ctypes, sys
import torch
from pto_mlir import pypto as package
package.enable()
from pypto.runtime import device_runner

folder = sys.argv[1]
a = torch.arange(512, dtype=torch.float32).reshape(32, 16).T  # not contiguous
given = [("a", a), ("by", ctypes.c_float(1.5)), ("out", torch.zeros(16, 32)), ("output_2", torch.ones(1))]
args, held, inputs, outputs = device_runner.build_orch_args_from_inputs(given, {"out"})
assert list(inputs) == ["a"] and list(outputs) == ["out", "output_2"] and held["by"] == 1.5
assert inputs["a"].is_contiguous() and args[0] is inputs["a"] and args[2] is outputs["out"]
program, runtime, _ = device_runner.compile_and_assemble(folder, "a2a3")
prefix = f"{folder}/dfx_outputs"
device_runner.execute_on_device(program, args[:3], "a2a3", runtime, 0, output_prefix=prefix, enable_dep_gen=True)
device_runner.validate_golden({"out": outputs["out"]}, {"out": a + 1.5})
try:
    device_runner.validate_golden({"out": outputs["out"]}, {"out": a + 2.5})
except AssertionError as error:
    print(str(error).splitlines()[0])
"""


@needs_torch
def test_arguments_by_hand(tmp_path):
    device_runner.write_tree(Sum2, tmp_path, "a2a3")
    done = subprocess.run([PYTHON, "-c", BY_HAND, str(tmp_path)], capture_output=True, text=True)
    assert "output out: 512 of 512 elements differ" in done.stdout, done.stderr
    assert (tmp_path / "dfx_outputs" / "deps.json").is_file()
    with pytest.raises(ValueError, match="expects level 2"):
        device_runner.execute_on_device(None, [], "a2a3", "", 0, level=3)


def test_a_program_of_compile_program_runs_again(tmp_path):
    device_runner.write_tree(Sum2, tmp_path, "a2a3")
    a, out = numbers(16, 32), zeros(16, 32)
    replay(tmp_path, a, 2.0, out)
    np.testing.assert_array_equal(out, a + 2)
    assert isinstance(device_runner.compile_and_assemble(tmp_path, "a2a3")[0], CompiledProgram)

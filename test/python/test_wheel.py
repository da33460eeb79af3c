"""The wheel that test.sh made from the build tree, installed in a clean environment: every command, both spellings."""

import subprocess

import numpy as np
import pytest
from conftest import ROOT

from pto_mlir import npz

BIN = ROOT / "build" / "wheel-venv" / "bin"
pytestmark = pytest.mark.skipif(not BIN.is_dir(), reason="no wheel was made (scripts/make_wheel.sh makes it)")


def run(folder, command, *arguments):
    """Runs an installed command away from the source tree; returns its output."""
    done = subprocess.run([str(BIN / command), *map(str, arguments)], cwd=folder, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("suffix", ["", ".py"])
def test_from_onnx_to_numbers(tmp_path, awkward, suffix):
    feed = {"x": np.random.default_rng(8).standard_normal((3, 3, 13, 29)).astype(np.float32)}
    npz.save(tmp_path / "in.npz", feed)
    run(tmp_path, f"model_transform{suffix}", "--model_name", "m", "--model_def", awkward, "--mlir", "m.mlir",
        "--test_input", "in.npz", "--test_result", "ref.npz")  # fmt: skip
    run(tmp_path, f"model_deploy{suffix}", "--mlir", "m.mlir", "--model", "m.pmodel", "--quantize", "F16")
    assert "processor" in run(tmp_path, f"pmodel_tool{suffix}", "--info", "m.pmodel")
    run(tmp_path, f"model_runner{suffix}", "--model", "m.pmodel", "--input", "in.npz", "--output", "out.npz")
    assert "passed: 1 of 1" in run(tmp_path, f"npz_tool{suffix}", "compare", "out.npz", "ref.npz")


def test_builder_and_runner_come_with_the_extra(tmp_path):
    """`pip install pto-mlir[pto]`: the names of the overview, a program from text to the simulator, the example of the whole stack."""
    code = ("import importlib.metadata as m; assert 'pto' in m.metadata('pto-mlir').get_all('Provides-Extra')\n"
            "from pto import PTO, PTOFunctionBuilder, PTOModule, ast_frontend, generate_ascend_code, scalar\n"
            "import pto_as\nfrom pto_runtime import BinaryCompiler, DeviceRunner, Graph\n"
            "p = PTO('k'); a = p.tensor((4, 8)); p.tile_add(a, a, a); t = p.build()\n"
            "assert pto_as.print_kernel(pto_as.parse(t)[0]) == t; print('good')")  # fmt: skip
    assert run(tmp_path, "python", "-c", code) == "good\n"
    printed = run(tmp_path, "python", "-m", "pto.examples.bgemm", "--groups", "2", "--steps", "2", "--size", "16")
    assert "aicore_done=1" in printed and "largest error against numpy" in printed


def test_native_tools_are_there(tmp_path):
    assert "pto-insert-sync" in run(tmp_path, "pto-opt", "--help")
    assert "--kernel" in run(tmp_path, "pto-run", "--help")
    assert "--level" in run(tmp_path, "pto-compile", "--help")

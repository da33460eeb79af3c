"""The programs beside the four commands: a bad file or value is one clear line and exit code 1, never a traceback."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT

NO_MODEL = str(ROOT / "pyproject.toml")
SHAPE = "--input_shapes"
LINES = {
    "vm-missing": (["-m", "pto_mlir.vm", "/nowhere.vm"], "/nowhere.vm: No such file"),
    "vm-folder": (["-m", "pto_mlir.vm", "/"], "/: Is a directory"),
    "vm-text": (["-m", "pto_mlir.vm", NO_MODEL], "line 1: expects"),
    "bgemm-groups": (["-m", "pto.examples.bgemm", "--groups", "0"], "--groups: expects at least 1"),
    "bgemm-steps": (["-m", "pto.examples.bgemm", "--steps", "-1"], "--steps: expects at least 1"),
    "bgemm-size": (["-m", "pto.examples.bgemm", "--size", "0"], "--size: expects at least 1"),
    "regression-work": (["-m", "regression", "--work", "/proc/nowhere"], "/proc/nowhere: "),
    "regression-model": (["-m", "regression", "--models", "nothing"], "no model 'nothing'"),
    "regression-mode": (["-m", "regression", "--modes", "F8"], "'F8' is none of"),
    "first-light-file": (["benchmarks/first_light.py", "/nowhere.onnx", SHAPE, "[[1]]"], "/nowhere.onnx: onnxruntime"),
    "first-light-text": (["benchmarks/first_light.py", NO_MODEL, SHAPE, "[[1]]"], "pyproject.toml: onnxruntime"),
    "first-light-shape": (["benchmarks/first_light.py", NO_MODEL, SHAPE, "x"], "expects a list of lists"),
    "f16-floor-file": (["benchmarks/f16_floor.py", "/nowhere.onnx"], "/nowhere.onnx"),
    "f16-floor-text": (["benchmarks/f16_floor.py", NO_MODEL], "not a readable ONNX model"),
    "estimates-model": (["benchmarks/estimates.py", "--models", "nothing"], "nothing.toml: no such file"),
    "cmodel-binary": (["benchmarks/cmodel.py", "--binary", "/nowhere"], "/nowhere: not there"),
    "task-runtime-binary": (["benchmarks/task_runtime.py", "--binary", "/nowhere"], "/nowhere: not there"),
    "compare-text": (["scripts/compare_pto_text.py", "/nowhere.mlir"], "/nowhere.mlir: --mlir: no such file"),
    "trace-missing": (["scripts/draw_trace.py", "/nowhere", "x.png"], "/nowhere: No such file"),
    "trace-text": (["scripts/draw_trace.py", NO_MODEL, "x.png"], "not a trace"),
    "figures": (["scripts/readme_table.py", "--check", "--zoo", "/nowhere"], "/nowhere: No such file"),
}


@pytest.mark.parametrize("case", LINES)
def test_one_line(case, tmp_path):
    arguments, words = LINES[case]
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'build' / 'python'}:{ROOT}", "PTO_MLIR_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    assert len(done.stderr.splitlines()) == 1 and words in done.stderr, done.stderr

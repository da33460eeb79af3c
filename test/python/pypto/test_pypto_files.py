"""Programs as files: pto-compile of a .py, and a .pmodel that sessions and model_runner run by parameter names."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pto_mlir.runtime import InferenceSession
from random_numbers import numbers

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = '''
"""A program in a file of its own."""
import pypto.language as pl

FACTOR = 2.0


@pl.jit.incore
def scale(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    pl.store(pl.mul(pl.load(x, [0, 0], [16, 32]), FACTOR), [0, 0], y)


@pl.jit
def twice(x: pl.Tensor, total: pl.InOut[pl.Tensor], y: pl.Out[pl.Tensor], n: pl.Scalar[pl.INT32]):
    t = pl.create_tensor([16, 32], dtype=pl.FP32)
    scale(x, t)
    with pl.at(level=pl.Level.CORE_GROUP):
        s = pl.load(total, [0, 0], [16, 32])
        for i in pl.range(n):
            s = pl.add(s, pl.load(t, [0, 0], [16, 32]))
        pl.store(s, [0, 0], total)
        pl.store(s, [16, 0], y)
    return y


@pl.jit
def known(x: pl.Tensor[[8, 32], pl.FP32], y: pl.Out[pl.Tensor[[8, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.neg(pl.load(x, [0, 0], [8, 32])), [0, 0], y)


if __name__ == "__main__":
    raise SystemExit("the file is imported, not run")
'''
SHAPES = ["x=16x32xf32", "total=16x32xf32", "y=32x32xf32", "n=3"]


def compile_file(*arguments):
    code = "import sys; from pto_mlir.tools.native import pto_compile; sys.exit(pto_compile())"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    return file


def test_a_file_runs_by_parameter_names(program, tmp_path):
    out = tmp_path / "twice.pmodel"
    done = compile_file(program, "--entry", "twice", "--shape", *SHAPES, "-o", out)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    session = InferenceSession(out)
    assert [each.name for each in session.get_inputs()] == ["x", "total"]
    assert [each.name for each in session.get_outputs()] == ["total", "y"]
    x, total = numbers(16, 32), numbers(16, 32, seed=1)
    expected = total + x * 2 + x * 2 + x * 2
    for _ in range(2):  # what is not written begins with zeros in every run
        got_total, y = session.run(None, {"x": x, "total": total})
        np.testing.assert_array_equal(got_total, expected)
        np.testing.assert_array_equal(y, np.concatenate([np.zeros((16, 32), np.float32), expected]))


def test_model_runner_and_timing(program, tmp_path):
    out, given, result = tmp_path / "k.pmodel", tmp_path / "x.npz", tmp_path / "y.npz"
    assert compile_file(program, "--entry", "known", "-o", out).returncode == 0
    x = numbers(8, 32)
    np.savez(given, x=x)
    runner = [sys.executable, "-m", "pto_mlir.tools.model_runner", "--model", out, "--input", given, "--output", result]
    for mode in ("functional", "timing", "checked"):
        done = subprocess.run([*map(str, runner), "--mode", mode], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(np.load(result)["y"], -x)


C_PROGRAM = """
#include "pto_mlir/Runtime/CApi.h"
#include <stdio.h>

int main(int argc, char **argv) {
  static float x[8][32], y[8][32];
  uint64_t shape[] = {8, 32};
  for (int i = 0; i < 8 * 32; ++i) x[0][i] = i;
  pto_session *session;
  if (pto_session_open(argv[1], NULL, 1, NULL, &session)) return puts(pto_last_error()), 1;
  pto_input input = {"x", "f32", shape, 2, x};
  pto_output output = {"y", y, sizeof y};
  if (pto_session_run(session, &input, 1, &output, 1)) return puts(pto_last_error()), 1;
  printf("%g %g\\n", y[0][1], y[7][31]);
  pto_session_close(session);
}
"""


def test_a_program_of_c_runs_a_file(program, tmp_path):
    out, source, binary = tmp_path / "k.pmodel", tmp_path / "p.c", tmp_path / "p"
    assert compile_file(program, "--entry", "known", "-o", out).returncode == 0
    program.unlink()  # the file needs no source
    source.write_text(C_PROGRAM)
    library = ["-L", ROOT / "build/lib", "-lpto_runtime", f"-Wl,-rpath,{ROOT / 'build/lib'}"]
    subprocess.run(["clang-19", "-std=c99", "-I", ROOT / "include", source, *library, "-o", binary], check=True)
    assert subprocess.run([binary, out], capture_output=True, text=True, check=True).stdout == "-1 -255\n"


def test_two_runs_give_the_same_bytes(program, tmp_path):
    x, total = numbers(16, 32), numbers(16, 32, seed=1)
    files, traces, results = [], [], []
    for turn in range(2):
        out, trace = tmp_path / f"{turn}.pmodel", tmp_path / f"{turn}.json"
        assert compile_file(program, "--entry", "twice", "--shape", *SHAPES, "-o", out).returncode == 0
        session = InferenceSession(out, mode=f"timing:{trace}", threads=1 + turn)
        results.append(b"".join(each.tobytes() for each in session.run(None, {"x": x, "total": total})))
        del session
        files.append(out.read_bytes())
        traces.append(trace.read_bytes())
    assert files[0] == files[1] and traces[0] == traces[1] and results[0] == results[1]
    assert b"scale" in traces[0] and b"twice" in traces[0]  # the program's names


def test_texts_and_folders(program, tmp_path):
    folder = tmp_path / "out"
    assert compile_file(program, "--entry", "known", "-o", folder).returncode == 0
    assert {each.name for each in folder.iterdir()} == {"known.pmodel", "known.pto", "known.cpp"}
    assert "pto.tneg" in (folder / "known.pto").read_text() and "TNEG" in (folder / "known.cpp").read_text()
    single = tmp_path / "single.pto"
    assert compile_file(program, "--entry", "twice", "--shape", *SHAPES, "-o", single).returncode == 0
    assert "@scale" in single.read_text() and "@twice_incore_0" in single.read_text()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--entry", "known", "-o", "{}/k.txt"], "k.txt: expects a .pmodel, .pto or .cpp, or a folder"),
        (["-o", "{}/k.pmodel"], "choose one with --entry"),
        (["--entry", "other", "-o", "{}/k.pmodel"], "has no entry other; it has twice, known"),
        (["--entry", "twice", "-o", "{}/k.pmodel"], "argument x: its annotation says no shape"),
        (
            ["--entry", "twice", "--shape", *SHAPES[:3], "-o", "{}/k.pmodel"],
            "argument n: expects a number, not nothing",
        ),
        (
            ["--entry", "known", "--shape", "x=8by32", "-o", "{}/k.pmodel"],
            "expects a=128x128xf32 or n=3, got 'x=8by32'",
        ),
        (["--entry", "known", "--shape", "z=8x32xf32", "-o", "{}/k.pmodel"], "known has no parameter z; it has x, y"),
        (["--entry", "known", "--shape", "x=8x16xf32", "-o", "{}/k.pmodel"], "argument x: expects shape [8, 32]"),
        (["--entry", "twice", "--shape", "x=2x16x32xf32", *SHAPES[1:], "-o", "{}/k.pmodel"], "program.py:"),
        (["--entry", "known", "--processor", "a9", "-o", "{}/k.pmodel"], "unknown processor a9"),
    ],
)
def test_errors_are_one_line(program, tmp_path, arguments, message):
    done = compile_file(program, *(each.format(tmp_path) for each in arguments))
    assert done.returncode == 1 and message in done.stderr
    assert done.stderr.startswith("pto-compile: error: ") and done.stderr.count("\n") == 1
    assert not [each for each in tmp_path.iterdir() if each != program and each.name != "__pycache__"]


def test_other_inputs_go_to_the_native_command(tmp_path):
    code = "import sys; from pto_mlir.tools.native import pto_compile; sys.exit(pto_compile())"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "--level" in done.stdout


def test_a_file_that_fails_to_import(tmp_path):
    file = tmp_path / "broken.py"
    file.write_text("import no_such_module_here\n")
    done = compile_file(file, "-o", tmp_path / "k.pmodel")
    assert done.returncode == 1 and "no_such_module_here" in done.stderr and "Traceback" not in done.stderr
    missing = compile_file(Path("absent.py"), "-o", tmp_path / "k.pmodel")
    assert missing.returncode == 1 and "absent.py: the program: no such file" in missing.stderr

"""Every command on every file that it reads: one clear line, the right exit code, nothing left behind. Wrong values of
options likewise."""

import os
import subprocess
import sys

import numpy as np
import onnx
import pto
import pytest
from conftest import ROOT, save_model, weight
from onnx import helper
from PIL import Image
from pto_mlir import npz
from pto_mlir.tools import model_deploy, model_runner, model_transform, npz_tool
from pto_mlir.tools.native import _program

PYTHON_TOOLS = {
    "model_transform": model_transform,
    "model_deploy": model_deploy,
    "model_runner": model_runner,
    "npz_tool": npz_tool,
}
MODULES = {
    "vm": ["-m", "pto_mlir.vm"],
    "draw_trace": [str(ROOT / "scripts" / "draw_trace.py")],
    "bgemm": ["-m", "pto.examples.bgemm"],
}

# Command line, {file}: what is wrong, {name}: a good file of that kind, {out}: where output would go. Then what kind
# {file} should be.
FILES = [
    ("model_transform --model_name m --model_def {file} --mlir {out}.mlir", "onnx"),
    ("model_transform --model_name m --model_def {onnx} --mlir {out}.mlir --test_input {file}", "npz"),
    ("model_transform --model_name m --model_def {onnx} --mlir {out}.mlir --test_input {file}", "png"),
    ("model_deploy --mlir {file} --model {out}.pmodel", "mlir"),
    ("model_deploy --mlir {mlir} --model {out}.pmodel --test_input {file}", "npz"),
    ("model_deploy --mlir {mlir} --model {out}.pmodel --test_input {npz} --test_reference {file}", "npz"),
    ("model_runner --model {file} --input {npz} --output {out}.npz", "pmodel"),
    ("model_runner --model {file} --input {npz} --output {out}.npz", "onnx"),
    ("model_runner --model {file} --input {npz} --output {out}.npz", "mlir"),
    ("model_runner --model {pmodel} --input {file} --output {out}.npz", "npz"),
    ("model_runner --model {pmodel} --input {npz} --output {out}.npz --device {file}", "so"),
    ("npz_tool compare {file} {npz}", "npz"),
    ("npz_tool compare {npz} {file}", "npz"),
    ("npz_tool dump {file}", "npz"),
    ("npz_tool extract {file} {out}.npz x", "npz"),
    ("npz_tool merge {out}.npz {npz} {file}", "npz"),
    ("npz_tool rename {file} x z", "npz"),
    ("pmodel_tool --info {file}", "pmodel"),
    ("pmodel_tool --print {file}", "pmodel"),
    ("pmodel_tool --disasm {file}", "pmodel"),
    ("pmodel_tool --weights {file}", "pmodel"),
    ("pmodel_tool --traffic {file}", "pmodel"),
    ("pmodel_tool --verify {file}", "pmodel"),
    ("pmodel_tool --chip {file}", "pmodel"),
    ("pmodel_tool --extract {file} -o {out}", "pmodel"),
    ("pmodel_tool --combine {pmodel} --combine {file} -o {out}.pmodel", "pmodel"),
    ("pmodel_tool --combine {pmodel} --program {file} -o {out}.pmodel", "vm"),
    ("pto-opt {file} -o {out}.mlir", "mlir"),
    ("pto-compile {file} -o {out}.pmodel", "pto"),
    ("pto-run {file} --kernel k0_out_y --arg {npy} --out {out}.npy", "pmodel"),
    ("pto-run {kernel} --kernel k --arg {file} --out {out}.npy", "npy"),
    ("pto-run {kernel} --kernel k --arg {npy} --inout {file}={out}.npy", "npy"),
    ("pto-run {file}", "vm"),
    ("vm {file}", "vm"),
    ("draw_trace {file} {out}.svg", "json"),
]

OPTIONS = [
    "model_transform --model_name m --model_def {onnx} --mlir {out}.txt",
    "model_transform --model_name m --model_def {onnx} --mlir {out}/absent/m.mlir",
    "model_transform --model_name m --model_def {onnx} --mlir {out}.mlir --pixel_format cmyk",
    "model_transform --model_name m --model_def {onnx} --mlir {out}.mlir --tolerance 0.9",
    "model_transform --model_name m --model_def {onnx} --mlir {out}.mlir --output_names nothing",
    "model_deploy --mlir {mlir} --model {out}.pmodel --quantize F8",
    "model_deploy --mlir {mlir} --model {out}.pmodel --processor b7",
    "model_deploy --mlir {mlir} --model {out}.pmodel --num_core 0",
    "model_deploy --mlir {mlir} --model {out}.pmodel --num_core many",
    "model_deploy --mlir {mlir} --model {out}/absent/m.pmodel",
    "model_deploy --mlir {mlir} --model {folder}",
    "model_runner --model {pmodel} --input {npz} --output {out}.npz --mode quick",
    "model_runner --model {pmodel} --input {npz} --output {out}.npz --threads -3",
    "model_runner --model {pmodel} --input {npz} --output {out}.npz --mode timing --blocks 0",
    "model_runner --model {pmodel} --input {npz} --output {out}/absent/o.npz",
    "model_runner --model {pmodel} --input {npz} --output {out}.npz --profile {out}/absent/t.json",
    "npz_tool squash {npz}",
    "npz_tool compare {npz} {npz} --tolerance high,higher",
    "pmodel_tool --info {pmodel} --verify {pmodel}",
    "pmodel_tool --combine {pmodel} -o {out}/absent/m.pmodel",
    "pto-opt {mlir} --no-such-pass",
    "pto-opt {mlir} -o {out}/absent/m.mlir",
    "pto-compile {pto} -o {out}.pmodel --processor b7",
    "pto-compile {pto} -o {out}.pmodel --level 9",
    "pto-compile {pto} -o {out}.pmodel --blocks 0",
    "pto-compile {pto} -o {out}.docx",
    "pto-compile {pto} -o {out}/absent/m.pmodel",
    "pto-run {kernel} --kernel absent --arg {npy} --out {out}.npy",
    "pto-run {kernel} --kernel k --arg {npy} --out {out}.npy --mode quick",
    "pto-run {kernel} --kernel k --arg {npy} --out {out}.npy --blocks none",
    "pto-run {kernel} --kernel k --arg {npy} --out {out}/absent/o.npy",
    "pto-run {kernel} --arg {npy} --inout {out}/absent.npy",
    "pto-run {kernel} --arg {npy} --inout {npy}=",
    "pto-run {kernel} --arg {npy} --inout",
    "pto-run {kernel} --arg {npy} --out :4x16xf32",
    "pto-run {kernel} --out {out}.npy:4x16xf32 --out {out}2.npy",
    "vm {vm} not-a-number",
    "bgemm --size 0 --kind host",
    "bgemm --groups many",
]


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A good file of each kind."""
    folder = tmp_path_factory.mktemp("good")
    rng = np.random.default_rng(0)
    files = {
        kind: folder / f"good.{kind}"
        for kind in ("onnx", "mlir", "pmodel", "npz", "png", "pto", "vm", "npy", "json", "kernel", "so")
    }
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Relu", ["c"], ["y"])]
    save_model(files["onnx"], nodes, [("x", [1, 3, 8, 8])], [("y", [1, 4, 6, 6])], [weight(rng, "w", 4, 3, 3, 3)])
    npz.save(files["npz"], {"x": rng.standard_normal((1, 3, 8, 8)).astype(np.float32)})
    Image.fromarray(rng.integers(0, 255, (8, 8, 3), np.uint8)).save(files["png"])
    np.save(files["npy"], np.ones((4, 16), np.float32))
    assert (
        model_transform.main(["--model_name", "m", "--model_def", str(files["onnx"]), "--mlir", str(files["mlir"])])
        == 0
    )
    assert model_deploy.main(["--mlir", str(files["mlir"]), "--model", str(files["pmodel"])]) == 0
    kernel = pto.PTO("k")
    x, y = (kernel.tensor((4, 16), name=name) for name in "xy")
    kernel.tile_copy(y, x)
    kernel.compile(str(folder / "k.pmodel"))
    (folder / "k.pmodel").rename(files["kernel"])
    files["pto"].write_text((ROOT / "test" / "Tools" / "pto-compile" / "vector.pto").read_text())
    files["vm"].write_text(
        '.vm 1\n.target "host"\n.func @main(i32) -> (i32) {\n  iload_0\n  iconst_1\n  iadd\n  return\n}\n'
    )
    files["json"].write_text('{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 1}]}')
    files["so"].write_bytes(b"\x7fELF\x02\x01\x01" + bytes(64))
    files["folder"] = folder
    return {kind: str(path) for kind, path in files.items()}


@pytest.fixture
def run(command, good, tmp_path):
    """Runs a command line and checks the invariants of every failure; returns exit code and stderr."""
    work = tmp_path / "out"
    work.mkdir()

    def run(line, file=""):
        tool, *words = line.split()
        words = [word.format(file=file, out=work / "o", **good) for word in words]
        if tool in PYTHON_TOOLS:
            code, _, err = command(PYTHON_TOOLS[tool], *words)
        else:
            start = [sys.executable, *MODULES[tool]] if tool in MODULES else [_program(tool)]
            done = subprocess.run([*start, *words], capture_output=True, text=True, errors="replace", timeout=60)
            code, err = done.returncode, done.stderr
        assert code in (1, 2), f"exit code {code}\n{err}"
        for word in (
            "Traceback",
            "Assertion",
            "terminate called",
            "PLEASE submit",
            "Stack dump",
            "std::",
            "UNREACHABLE",
        ):
            assert word not in err, err
        # One line; a few if MLIR shows the source location; usage errors may show the usage.
        lines = 6 if tool in ("pto-opt", "pto-compile") else 4 if code == 2 else 1
        assert err.strip() and len(err.strip().splitlines()) <= lines, err
        assert not os.listdir(work), f"left behind: {os.listdir(work)}"
        return code, err

    return run


WRONG = ("absent", "folder", "empty", "truncated", "text", "picture")
# Files that are valid, although unusual: an empty module, and a picture.
CASES = [
    (*case, wrong)
    for case in FILES
    for wrong in WRONG
    if not (case[0].startswith("pto-opt") and wrong == "empty") and (case[1], wrong) != ("png", "picture")
]


@pytest.mark.parametrize("line, kind, wrong", CASES)
def test_bad_files(run, good, tmp_path, line, kind, wrong):
    bad = tmp_path / f"bad.{kind}"
    data = open(good[kind], "rb").read()
    if wrong == "folder":
        bad.mkdir()
    elif wrong != "absent":
        bad.write_bytes(
            {
                "empty": b"",
                "truncated": data[: len(data) * 2 // 3],
                "text": b"these are words\n" * 40,
                "picture": open(good["png"], "rb").read(),
            }[wrong]
        )
    code, err = run(line, str(bad))
    assert code == 1
    assert bad.name in err, err


@pytest.mark.parametrize("line", OPTIONS)
def test_bad_options(run, line):
    run(line)


def test_the_good_files_are_good(good, tmp_path):
    assert onnx.load(good["onnx"])
    assert subprocess.run([_program("pmodel_tool"), "--verify", good["pmodel"]], capture_output=True).returncode == 0
    assert (
        subprocess.run(
            [_program("pto-compile"), good["pto"], "-o", str(tmp_path / "o.pmodel")], capture_output=True
        ).returncode
        == 0
    )
    assert subprocess.run([_program("pto-run"), good["vm"], "--arg", "3"], capture_output=True).returncode == 0
    done = subprocess.run(
        [
            _program("pto-run"),
            good["kernel"],
            "--kernel",
            "k",
            "--arg",
            good["npy"],
            "--out",
            str(tmp_path / "o.npy"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), np.ones((4, 16), np.float32))

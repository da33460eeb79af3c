"""model_deploy --emit-pto: every file compiles by itself to a kernel that computes what the .pmodel's does."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pto_mlir
from pto_mlir.tools import model_deploy, model_transform

BIN = Path(pto_mlir.__file__).resolve().parents[2] / "bin"


def run(*arguments):
    result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, env=os.environ)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_emitted_kernels_are_the_models(awkward, command, tmp_path):
    mlir, model, folder = tmp_path / "awkward.mlir", tmp_path / "awkward.pmodel", tmp_path / "pto"
    assert command(model_transform, "--model_name", "awkward", "--model_def", awkward, "--mlir", mlir)[0] == 0
    code, out, err = command(model_deploy, "--mlir", mlir, "--model", model, "--emit-pto", folder)
    assert code == 0, err
    assert "not as .pto:" not in out
    files = sorted(folder.glob("*.pto"))
    assert f"{len(files)} kernels written to {folder} as .pto" in out and len(files) >= 2

    rng = np.random.default_rng(5)
    for file in files:
        compiled = tmp_path / (file.stem + ".pmodel")
        run(BIN / "pto-compile", file, "-o", compiled)
        pointers = file.read_text().split("func.func @", 1)[1].split(") attributes", 1)[0].count("!pto.ptr<f32>")
        inputs = []
        for i in range(pointers - 1):
            inputs.append(tmp_path / f"in{i}.npy")
            np.save(inputs[-1], rng.standard_normal(60000).astype(np.float32))
        arguments = [x for path in inputs for x in ("--arg", path)]
        for which, result in ((model, "model.npy"), (compiled, "text.npy")):
            run(BIN / "pto-run", which, "--kernel", file.stem, *arguments, "--out", f"{tmp_path / result}:60000xf32")
        expected, got = np.load(tmp_path / "model.npy"), np.load(tmp_path / "text.npy")
        # A convolution is written tap by tap: it adds the same products in another order.
        tolerance = 1e-4 if "pto.tmatmul" in file.read_text() and "pto.addptr" in file.read_text() else 0
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance, err_msg=file.stem)

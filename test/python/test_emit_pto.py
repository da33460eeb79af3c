"""model_deploy --emit-pto: every file compiles on its own to a kernel with the results of the .pmodel's."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pto_mlir
import pytest
import test_cube_layers
import test_mixed_kernels
import test_transformer
from conftest import save_model
from onnx import helper
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


def test_bf16_is_filled_as_words(command, tmp_path):
    """The public assembler cannot fill tiles of bf16: the padding of an image is written as i16 into the same bytes."""
    mlir, folder = tmp_path / "pool.mlir", tmp_path / "pto"
    pool = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    save_model(tmp_path / "pool.onnx", [pool], [("x", [1, 16, 12, 12])], [("y", [1, 16, 12, 12])], [])
    assert (
        command(model_transform, "--model_name", "pool", "--model_def", tmp_path / "pool.onnx", "--mlir", mlir)[0] == 0
    )
    code, out, err = command(
        model_deploy, "--mlir", mlir, "--model", tmp_path / "m.pmodel", "--quantize", "BF16", "--emit-pto", folder
    )
    assert code == 0 and "not as .pto:" not in out, out + err
    texts = {file: file.read_text() for file in folder.glob("*.pto")}
    assert not any(re.search(r"pto.texpands ins\(%\w+ : bf16\)", text) for text in texts.values())
    filled = [file for file, text in texts.items() if "pto.bitcast" in text]
    assert filled
    for file in filled:
        run(BIN / "pto-compile", file, "-o", tmp_path / "k.pmodel")


def compare_texts(mlir, folder, **options):
    """The comparison of scripts/compare_pto_text.py."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
    try:
        import compare_pto_text
    finally:
        sys.path.pop(0)
    return compare_pto_text.compare(mlir, folder, **options)


NETS = {
    "encoder": test_transformer.encoder,
    "patches": test_transformer.patches,
    "gelu": test_mixed_kernels.gelu,
    "convolutions": test_cube_layers.convolutions,
}


@pytest.mark.parametrize("cores", [1, 4])
@pytest.mark.parametrize("quantize", ["F32", "BF16"])
@pytest.mark.parametrize("net", NETS)
def test_text_gives_the_models_commands(command, tmp_path, net, quantize, cores):
    """Every kernel that is printed for pto-compile and compiled again has the command bytes of the model; one that is
    printed for the public assembler has them unless model_deploy says what the text says instead."""
    onnx, mlir = tmp_path / f"{net}.onnx", tmp_path / f"{net}.mlir"
    NETS[net](onnx)
    assert command(model_transform, "--model_name", net, "--model_def", onnx, "--mlir", mlir)[0] == 0
    exact = compare_texts(mlir, tmp_path / "exact", quantize=quantize, num_core=cores, reader="pto-compile")
    assert exact.equal and not exact.explained and not exact.unexplained, exact
    public = compare_texts(mlir, tmp_path / "public", quantize=quantize, num_core=cores)
    assert not public.unexplained, public
    # A left operand that the vector cores make in the product's kernel has a kernel of its own there.
    assert len(public.equal) + len(public.explained) >= len(exact.equal)

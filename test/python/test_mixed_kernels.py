"""Kernels of a model that use cube and vector cores side by side: which launches are joined, their numbers in every
mode and for every number of cores, and their text."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pto_mlir
import pytest
from conftest import save_model, weight
from onnx import helper
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy, model_transform
from pto_mlir.tools.native import program_output

BIN = Path(pto_mlir.__file__).resolve().parents[2] / "bin"


def erf_gelu(x):
    from math import erf

    return x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2.0)))


def gelu(path):
    """A product of 197 rows and 136 columns: no tile divides either; the rows of the vector kernel's second input lie
    apart."""
    rng = np.random.default_rng(7)
    w, b, r = weight(rng, "w", 40, 136, scale=0.3), weight(rng, "b", 136), weight(rng, "r", 197, 136)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Add", ["p", "b"], ["h"]),
        helper.make_node("Div", ["h", "root"], ["d"]),
        helper.make_node("Erf", ["d"], ["e"]),
        helper.make_node("Add", ["e", "one"], ["f"]),
        helper.make_node("Mul", ["h", "f"], ["g"]),
        helper.make_node("Mul", ["g", "half"], ["k"]),
        helper.make_node("Add", ["k", "r"], ["y"]),
    ]
    constants = [helper.make_tensor(n, 1, [], [v]) for n, v in (("root", 2**0.5), ("one", 1.0), ("half", 0.5))]
    save_model(path, nodes, [("x", [197, 40])], [("y", [197, 136])], [w, b, r, *constants])
    w, b, r = (np.frombuffer(t.raw_data, np.float32).reshape(t.dims).astype(np.float64) for t in (w, b, r))
    return {"x": [197, 40]}, lambda x: erf_gelu(x @ w + b) + r


def one_row(path):
    """A product of one row, as in squeeze-and-excitation: its vector kernel has columns alone."""
    rng = np.random.default_rng(8)
    w, b = weight(rng, "w", 40, 136, scale=0.3), weight(rng, "b", 136)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Add", ["p", "b"], ["h"]),
        helper.make_node("Sigmoid", ["h"], ["s"]),
        helper.make_node("Mul", ["h", "s"], ["y"]),
    ]
    save_model(path, nodes, [("x", [1, 40])], [("y", [1, 136])], [w, b])
    w, b = (np.frombuffer(t.raw_data, np.float32).reshape(t.dims).astype(np.float64) for t in (w, b))

    def expected(x):
        h = x @ w + b
        return h / (1 + np.exp(-h))

    return {"x": [1, 40]}, expected


def softmax(path):
    """Scores of 2 x 3 heads with a mask for each of the 2: whole rows follow the products of a batch."""
    nodes = [
        helper.make_node("MatMul", ["q", "k"], ["s"]),
        helper.make_node("Add", ["s", "m"], ["t"]),
        helper.make_node("Softmax", ["t"], ["y"], axis=-1),
    ]
    save_model(
        path, nodes, [("q", [2, 3, 50, 16]), ("k", [2, 3, 16, 72]), ("m", [2, 1, 1, 72])], [("y", [2, 3, 50, 72])], []
    )

    def expected(q, k, m):
        s = q @ k + m
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    return {"q": [2, 3, 50, 16], "k": [2, 3, 16, 72], "m": [2, 1, 1, 72]}, expected


def convolution(x, w, b, strides=(1, 1)):
    """Of images [N, C, H, W], padded so that the windows' centres are pixels."""
    side, (high, wide) = w.shape[2] // 2, x.shape[2:]
    padded = np.pad(x, ((0, 0), (0, 0), (side, side), (side, side)))
    sums = b[:, None, None]
    for i, j in np.ndindex(w.shape[2:]):
        pixels = padded[:, :, i : i + high : strides[0], j : j + wide : strides[1]]
        sums = sums + np.einsum("nchw,fc->nfhw", pixels, w[:, :, i, j])
    return sums


def residual(path):
    """Of two images, a 3x3 convolution by img2col and a sum behind it: runs of outputs begin anew with each image, and
    no run divides an image."""
    rng = np.random.default_rng(9)
    filters = [weight(rng, "u", 20, 24, 3, 3, scale=0.1), weight(rng, "v", 20, 20, 3, 3, scale=0.1)]
    filters.append(weight(rng, "w", 8, 20, 1, 1, scale=0.1))
    biases = [weight(rng, name, size, scale=0.1) for name, size in (("a", 20), ("b", 20), ("c", 8))]
    nodes = [
        helper.make_node("Conv", ["x", "u", "a"], ["h"], pads=[1, 1, 1, 1], strides=[2, 1]),
        helper.make_node("Conv", ["h", "v", "b"], ["p"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["p", "h"], ["s"]),
        helper.make_node("Relu", ["s"], ["r"]),
        helper.make_node("Conv", ["r", "w", "c"], ["y"]),
    ]
    save_model(path, nodes, [("x", [2, 24, 61, 37])], [("y", [2, 8, 31, 37])], filters + biases)
    (u, v, w), (a, b, c) = (
        [np.frombuffer(t.raw_data, np.float32).reshape(t.dims).astype(np.float64) for t in list]
        for list in (filters, biases)
    )

    def expected(x):
        h = convolution(x, u, a, strides=(2, 1))
        return convolution(np.maximum(convolution(h, v, b) + h, 0), w, c)

    return {"x": [2, 24, 61, 37]}, expected


def deploy(command, folder, make, *options, name="m"):
    feed, expected = make(folder / "m.onnx")
    assert (
        command(model_transform, "--model_name", "m", "--model_def", folder / "m.onnx", "--mlir", folder / "m.mlir")[0]
        == 0
    )
    code, out, err = command(model_deploy, "--mlir", folder / "m.mlir", "--model", folder / f"{name}.pmodel", *options)
    assert code == 0, out + err
    values = {key: np.random.default_rng(3).standard_normal(shape).astype(np.float32) for key, shape in feed.items()}
    return folder / f"{name}.pmodel", values, expected(*(v.astype(np.float64) for v in values.values()))


def launches(model):
    return [kernel["name"] for kernel in json.loads(program_output("pmodel_tool", ["--print", str(model)]))["kernels"]]


def models_with_the_numbers(command, folder, make, quantize):
    """The number of cores and the model for each, whose numbers are float64's within those of the type, and the same
    bits as on other numbers of cores; in F32 those of the kernels apart, too."""
    apart, feed, expected = deploy(command, folder, make, "--debug", "--quantize", quantize, name="apart")
    (reference,) = InferenceSession(str(apart)).run(None, feed)
    tolerance = {"F32": 1e-5, "F16": 4e-3, "BF16": 4e-2}[quantize]
    np.testing.assert_allclose(reference, expected, rtol=tolerance, atol=4 * tolerance)
    results = []
    for cores in (1, 2, 24):
        model, feed, _ = deploy(command, folder, make, "--num_core", cores, "--quantize", quantize, name=f"n{cores}")
        (got,) = InferenceSession(str(model)).run(None, feed)
        results.append(got)
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=4 * tolerance)
        yield cores, model
    assert all(np.array_equal(results[0], other) for other in results[1:])
    if quantize == "F32":
        assert np.array_equal(results[0], reference)


@pytest.mark.parametrize("make", [gelu, one_row, softmax, residual])
@pytest.mark.parametrize("quantize", ["F32", "F16", "BF16"])
def test_joined_kernels_compute_the_same(command, tmp_path, make, quantize):
    for cores, model in models_with_the_numbers(command, tmp_path, make, quantize):
        # Conversions in front of the product, "generic", do not count.
        joined = [name for name in launches(model) if re.search(r"k\d+_(?!generic)\w+_k\d+_", name)]
        # On many cores a tile of the scores does not hold a whole row.
        assert len(joined) == (make is not softmax or cores < 24), launches(model)


@pytest.mark.parametrize("make", [gelu, one_row, softmax, residual])
def test_every_mode_agrees(command, tmp_path, make):
    model, feed, _ = deploy(command, tmp_path, make, "--num_core", 2, "--quantize", "F16")
    (expected,) = InferenceSession(str(model)).run(None, feed)
    for mode in ("checked", "shuffled:5", "timing"):
        (got,) = InferenceSession(str(model), mode=mode).run(None, feed)
        assert np.array_equal(got, expected), mode


def test_joining_takes_less_time(command, tmp_path):
    """Both kinds of cores work concurrently in one launch."""
    seconds = []
    for options in (["--debug"], []):
        model, feed, _ = deploy(command, tmp_path, gelu, "--num_core", 24, *options)
        session = InferenceSession(str(model), mode="timing")
        session.run(None, feed)
        seconds.append(session.profile()["seconds"])
    assert seconds[1] < 0.8 * seconds[0]


def test_a_convolution_is_shown_alone(command, tmp_path):
    """The text for the public assembler has no img2col: the convolution is not joined then, and has a text."""
    folder = tmp_path / "pto"
    model, _, _ = deploy(command, tmp_path, residual, "--num_core", 2, "--emit-pto", folder)
    assert not [name for name in launches(model) if re.search(r"k\d+_\w+_k\d+_", name)]
    assert any("pto.tmatmul" in file.read_text() for file in folder.glob("*.pto"))


def test_the_text_of_a_joined_kernel(command, tmp_path):
    """One function with a section per kind of core, which compiles to the kernel of the model."""
    folder = tmp_path / "pto"
    model, feed, _ = deploy(command, tmp_path, gelu, "--num_core", 2, "--emit-pto", folder)
    (file,) = folder.glob("*.pto")
    text = file.read_text()
    assert "pto.section.cube" in text and "pto.section.vector" in text and "pto.sync.wait <PIPE_MTE2>, 0" in text
    # On a3 the public assembler requires the memory of the semaphores.
    assert re.search(r"(%\w+): memref<256xi64, #pto.address_space<gm>>\).*\n +pto.set_ffts \1 :", text)
    compiled = tmp_path / "text.pmodel"
    subprocess.run([BIN / "pto-compile", file, "--blocks", "2", "-o", compiled], check=True)
    rng, sizes = np.random.default_rng(1), []
    for i, size in enumerate(re.findall(r"!pto.ptr<(\w+)>", text.split("func.func @", 1)[1].split(")", 1)[0])):
        assert size == "f32"
        np.save(tmp_path / f"a{i}.npy", rng.standard_normal(197 * 136).astype(np.float32))
        sizes.append(i)
    arguments = [x for i in sizes[:-1] for x in ("--arg", tmp_path / f"a{i}.npy")]
    outputs = []
    for which in (model, compiled):
        subprocess.run(
            [
                BIN / "pto-run",
                which,
                "--kernel",
                file.stem,
                *arguments,
                "--blocks",
                "2",
                "--out",
                f"{tmp_path / 'y.npy'}:197x136xf32",
            ],
            check=True,
        )
        outputs.append(np.load(tmp_path / "y.npy"))
    assert np.array_equal(*outputs)

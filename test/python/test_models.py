"""Whole models through model_transform and model_deploy to results on the cmodel, against onnxruntime."""

import json

import numpy as np
import pytest
from conftest import save_model, weight
from onnx import helper, numpy_helper
from pto_mlir import npz
from pto_mlir.compare import compare
from pto_mlir.preprocess import Preprocess
from pto_mlir.reference import run_onnx
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy, model_runner, model_transform, npz_tool
from pto_mlir.tools.native import program_output

# Bounds: minimum cosine of every tensor, maximum absolute error of the outputs.
BOUNDS = {"F32": (0.99999, 1e-4), "F16": (0.999, 5e-3)}


def convert(command, folder, onnx_file, shapes, mode, feed, cores=1):
    """Runs transform and deploy with comparisons; returns the .pmodel and the reference tensors."""
    test_input = folder / "in.npz"
    npz.save(test_input, feed)
    mlir, reference, model = folder / "m.mlir", folder / "ref.npz", folder / f"m_{mode}.pmodel"
    code, out, err = command(
        model_transform,
        "--model_name",
        "m",
        "--model_def",
        onnx_file,
        "--input_shapes",
        shapes,
        "--test_input",
        test_input,
        "--test_result",
        reference,
        "--mlir",
        mlir,
    )
    assert code == 0, out + err
    code, out, err = command(
        model_deploy,
        "--mlir",
        mlir,
        "--quantize",
        mode,
        "--processor",
        "a3",
        "--num_core",
        cores,
        "--test_input",
        test_input,
        "--test_reference",
        reference,
        "--debug",
        "--model",
        model,
    )
    assert code == 0, out + err
    assert "on the host: none" in out and "real loss" in out
    return model, npz.load(reference)


def check(model, feed, reference, mode):
    """Compares every kept tensor and the outputs with onnxruntime's, within the bounds of the mode."""
    session = InferenceSession(str(model))
    values = session.run_with_debug(feed)
    assert {n: v.shape for n, v in values.items() if n in reference} == {
        n: reference[n].shape for n in values if n in reference
    }
    cosine, error = BOUNDS[mode]
    rows = compare(values, reference)
    assert len(rows) > len(session.get_outputs())
    worst = min(rows, key=lambda row: row.cosine)
    assert worst.cosine >= cosine, worst
    for output, value in zip(session.get_outputs(), session.run(None, feed)):
        assert value.dtype == reference[output.name].dtype and value.shape == reference[output.name].shape
        assert np.max(np.abs(value - reference[output.name])) <= error
    return values


@pytest.mark.parametrize("mode", ["F32", "F16"])
def test_awkward_sizes(command, tmp_path, awkward, mode):
    feed = {"x": np.random.default_rng(1).standard_normal((3, 3, 13, 29)).astype(np.float32)}
    model, reference = convert(command, tmp_path, awkward, "[[3,3,13,29]]", mode, feed)
    check(model, feed, reference, mode)


@pytest.mark.parametrize("mode", ["F32", "F16"])
def test_classifier(command, tmp_path, classifier, mode):
    preprocess = Preprocess([48, 192], True, 127.5, "normal", [127.5] * 3, [1 / 127.5] * 3, "bgr")
    feed = {"x": preprocess.load(classifier / "upright.png", [1, 3, 48, 192])}
    model, reference = convert(command, tmp_path, classifier / "cls.onnx", "[[1,3,48,192]]", mode, feed)
    check(model, feed, reference, mode)
    session = InferenceSession(str(model))
    for picture, answer in (("upright", 0), ("turned", 1)):
        x = preprocess.load(classifier / f"{picture}.png", [1, 3, 48, 192])
        assert session.run(None, {"x": x})[0][0].argmax() == answer
    if (
        mode == "F32"
    ):  # kernels are loops, not unrolled streams; `model` keeps its tensors, whose names and stores cost more
        lean = tmp_path / "lean.pmodel"
        code, out, err = command(model_deploy, "--mlir", tmp_path / "m.mlir", "--quantize", mode, "--model", lean)
        assert code == 0, out + err
        sizes = {
            line.split()[0]: float(line.split()[1])
            for line in program_output("pmodel_tool", ["--info", str(lean)]).splitlines()[-6:]
            if "KiB" in line
        }
        # A joined kernel holds the vector code once per tile size: 11 KiB of 499.
        assert sizes["metadata"] + sizes["commands"] <= 0.275 * sizes["weights"]


def test_more_cores_give_the_same_bits(command, tmp_path, awkward):
    feed = {"x": np.random.default_rng(2).standard_normal((3, 3, 13, 29)).astype(np.float32)}
    results = []
    for cores in (1, 2, 24):
        folder = tmp_path / str(cores)
        folder.mkdir()
        model, _ = convert(command, folder, awkward, "[[3,3,13,29]]", "F32", feed, cores)
        results.append(InferenceSession(str(model)).run(None, feed)[0])
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])


def test_model_runner_takes_all_three_kinds(command, tmp_path, awkward):
    feed = {"x": np.random.default_rng(4).standard_normal((3, 3, 13, 29)).astype(np.float32)}
    model, _ = convert(command, tmp_path, awkward, "[[3,3,13,29]]", "F32", feed)
    results = {}
    for kind in (model, tmp_path / "m.mlir", awkward):
        output = tmp_path / f"out{kind.suffix}.npz"
        code, out, err = command(model_runner, "--model", kind, "--input", tmp_path / "in.npz", "--output", output)
        assert code == 0, out + err
        results[kind.suffix] = npz.load(output)
        assert list(results[kind.suffix]) == ["y"]
    code, out, _ = command(
        model_runner, "--model", model, "--input", tmp_path / "in.npz", "--output", output, "--profile"
    )
    assert code == 0 and "MB written" in out and "\nall " in out
    trace = tmp_path / "trace.json"
    code, out, _ = command(
        model_runner, "--model", model, "--input", tmp_path / "in.npz", "--output", output, "--profile", trace
    )
    assert code == 0 and "critical path" in out and "CUBE" in out
    names = {
        event.get("args", {}).get("kernel", event["name"])
        for event in json.loads(trace.read_text())["traceEvents"]
        if event["ph"] == "X"
    }
    assert {kernel["name"] for kernel in InferenceSession(str(model)).profile_kernels()} <= names
    code, _, err = command(
        model_runner, "--model", awkward, "--input", tmp_path / "in.npz", "--output", output, "--profile"
    )
    assert code == 1 and "only a .pmodel has kernels" in err
    assert np.allclose(results[".pmodel"]["y"], results[".onnx"]["y"], atol=1e-5)
    assert np.allclose(results[".mlir"]["y"], results[".onnx"]["y"], atol=1e-5)
    code, out, _ = command(npz_tool, "compare", tmp_path / "out.pmodel.npz", tmp_path / "out.onnx.npz")
    assert code == 0 and "passed: 1 of 1" in out


def test_outputs_keep_their_names(command, tmp_path, awkward):
    feed = {"x": np.zeros((3, 3, 13, 29), np.float32)}
    model, _ = convert(command, tmp_path, awkward, "[[3,3,13,29]]", "F32", feed)
    session = InferenceSession(str(model))
    assert [i.name for i in session.get_inputs()] == ["x"] and [o.name for o in session.get_outputs()] == ["y"]
    assert list(run_onnx(awkward, feed)) == ["y"]


def test_outputs_that_no_kernel_computes(command, tmp_path):
    """An input, a constant, one tensor under two names and identical formulas as outputs."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Relu", ["x"], ["b"]),
        helper.make_node("Identity", ["a"], ["c"]),
        helper.make_node("Reshape", ["x", "shape"], ["d"]),
        helper.make_node("Identity", ["x"], ["e"]),
    ]
    constants = [weight(np.random.default_rng(0), "k", 70, 90), numpy_helper.from_array(np.array([-1, 90]), "shape")]
    outputs = [(name, None) for name in "abcdek"]
    file = save_model(tmp_path / "m.onnx", nodes, [("x", [50, 7, 90])], outputs, constants, opset=13)
    feed = {"x": np.random.default_rng(1).standard_normal((50, 7, 90)).astype(np.float32)}
    model, _ = convert(command, tmp_path, file, "[[50,7,90]]", "F32", feed)
    session = InferenceSession(str(model))
    expected = run_onnx(file, feed)
    for output, value in zip(session.get_outputs(), session.run(None, feed)):
        assert np.array_equal(value, expected[output.name]), output.name

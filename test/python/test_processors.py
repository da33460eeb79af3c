"""Models on every processor of the instruction table: the same graphs, types and numbers of cores as on the default
one."""

import numpy as np
import onnxruntime
import pytest
from conftest import save_model, weight
from onnx import helper
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy

# Bounds of the maximum error relative to the largest value: a few roundings of the storage type.
BOUNDS = {"F32": 1e-5, "F16": 5e-3, "BF16": 4e-2}


def attention(folder):
    """A product of two activations, softmax, another product, layer norm and an activation after a dense layer."""
    rng = np.random.default_rng(11)
    nodes = [
        helper.make_node("MatMul", ["x", "wq"], ["q"]),
        helper.make_node("MatMul", ["x", "wk"], ["k"]),
        helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "kt"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["p"], axis=-1),
        helper.make_node("MatMul", ["p", "x"], ["mixed"]),
        helper.make_node("Add", ["mixed", "x"], ["sum"]),
        helper.make_node("LayerNormalization", ["sum", "scale", "shift"], ["norm"], axis=-1),
        helper.make_node("MatMul", ["norm", "w"], ["dense"]),
        helper.make_node("Add", ["dense", "b"], ["biased"]),
        helper.make_node("Sigmoid", ["biased"], ["y"]),
    ]
    weights = [
        weight(rng, "wq", 48, 48, scale=0.1),
        weight(rng, "wk", 48, 48, scale=0.1),
        weight(rng, "scale", 48),
        weight(rng, "shift", 48),
        weight(rng, "w", 48, 80, scale=0.2),
        weight(rng, "b", 80),
    ]
    return save_model(folder / "attention.onnx", nodes, [("x", [2, 33, 48])], [("y", [2, 33, 80])], weights)


def windows(folder):
    """Depthwise and pooling windows, a mean over pixels, concatenation, padding."""
    rng = np.random.default_rng(12)
    nodes = [
        helper.make_node("Conv", ["x", "d"], ["dw"], group=24, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("HardSwish", ["dw"], ["act"]),
        helper.make_node("MaxPool", ["x"], ["pool"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Concat", ["act", "pool"], ["both"], axis=1),
        helper.make_node("Conv", ["both", "w", "b"], ["conv"], kernel_shape=[1, 1]),
        helper.make_node("Relu", ["conv"], ["relu"]),
        helper.make_node("GlobalAveragePool", ["relu"], ["y"]),
    ]
    weights = [weight(rng, "d", 24, 1, 3, 3), weight(rng, "w", 40, 48, 1, 1, scale=0.2), weight(rng, "b", 40)]
    return save_model(folder / "windows.onnx", nodes, [("x", [1, 24, 21, 30])], [("y", [1, 40, 1, 1])], weights)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory, awkward):
    folder = tmp_path_factory.mktemp("processors")
    files = {"awkward": awkward, "attention": attention(folder), "windows": windows(folder)}
    for name, file in files.items():
        compiler.transform(str(file), name, None, [], str(folder / f"{name}.mlir"), "")
    return {name: (file, folder / f"{name}.mlir") for name, file in files.items()}


def feed_of(session):
    rng = np.random.default_rng(5)
    return {i.name: rng.standard_normal(i.shape).astype(np.float32) for i in session.get_inputs()}


def deploy(graphs, name, target, kind, processor, cores):
    compiler.deploy(str(graphs[name][1]), str(target), kind, processor, cores, False)
    return str(target)


@pytest.mark.parametrize("processor", compiler.processors())
@pytest.mark.parametrize("kind", BOUNDS)
@pytest.mark.parametrize("name", ["awkward", "attention", "windows"])
def test_numbers_are_onnxruntimes_on_every_processor(tmp_path, graphs, name, kind, processor):
    reference = onnxruntime.InferenceSession(str(graphs[name][0]))
    feed = feed_of(reference)
    expected, results = reference.run(None, feed)[0], []
    for cores in (1, min(24, compiler.processors()[processor])):
        file = deploy(graphs, name, tmp_path / f"{cores}.pmodel", kind, processor, cores)
        session = InferenceSession(file)
        assert session.info()["processor"] == processor
        results.append(session.run(None, feed)[0])
        assert np.abs(results[-1] - expected).max() <= BOUNDS[kind] * np.abs(expected).max()
    assert np.array_equal(*results)


@pytest.mark.parametrize("processor", compiler.processors())
@pytest.mark.parametrize("mode", ["timing", "checked"])
@pytest.mark.parametrize("name", ["awkward", "attention", "windows"])
def test_modes_agree_on_every_processor(tmp_path, graphs, name, mode, processor):
    cores = min(4, compiler.processors()[processor])
    file = deploy(graphs, name, tmp_path / "m.pmodel", "F16", processor, cores)
    feed = feed_of(onnxruntime.InferenceSession(str(graphs[name][0])))
    functional = InferenceSession(file).run(None, feed)[0]
    assert np.array_equal(InferenceSession(file, mode=mode).run(None, feed)[0], functional)


def test_processors_come_from_the_table(command, tmp_path, graphs):
    assert list(compiler.processors())[:2] == ["a3", "a5"] and compiler.processors()["a3"] == 24
    code, out, _ = command(model_deploy, "--help")
    assert code == 0 and "a3" in out and "a5" in out
    mlir = graphs["awkward"][1]
    for processor, blocks in compiler.processors().items():
        common = ["--mlir", mlir, "--model", tmp_path / "m.pmodel", "--processor", processor, "--num_core", blocks + 1]
        code, _, error = command(model_deploy, *common)
        assert code == 1 and f"expects 1 to {blocks}" in error
    with pytest.raises(UserError, match="'b7' is not known, the instruction table has a3, a5"):
        compiler.deploy(str(mlir), str(tmp_path / "m.pmodel"), "F32", "b7", 1, False)

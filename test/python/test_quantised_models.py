"""Models of onnxruntime's quantiser, narrowed to F16 and BF16: whole numbers and scales are exact there, too."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import compiler
from pto_mlir.reference import run_onnx
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_transform

RNG = np.random.default_rng(11)
X = RNG.standard_normal((2, 64, 9, 7)).astype(np.float32)
ROWS = RNG.standard_normal((20, 300)).astype(np.float32)


class Graph:
    def __init__(self, opset):
        self.nodes, self.constants, self.opset = [], [], opset

    def constant(self, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names if outputs > 1 else names[0]

    def save(self, path, feed, result):
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, feed.shape)]
        outputs = [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        onnx.save(model, path)


def qlinear(g, kind):
    """Convolutions of 8 bits in a row: sums of up to 10^7, of which f16 holds none."""
    scale, zero, step = g.constant(np.float32(0.03)), g.constant(np.uint8(121)), g.constant(np.float32(0.02))
    value = g.op("QuantizeLinear", "x", scale, zero)
    for _ in range(2):
        weights = g.constant(RNG.integers(0, 256, (64, 64, 3, 3)).astype(np.uint8))
        bias = g.constant(RNG.integers(-90000, 90000, 64).astype(np.int32))
        out, middle = g.constant(np.float32(0.03 * 0.02 / 0.002)), g.constant(np.uint8(127))
        value = g.op("QLinearConv", value, scale, zero, weights, step, middle, out, zero, bias, pads=[1, 1, 1, 1])
        scale = out
    return g.op("DequantizeLinear", value, scale, zero), 0.3


def dynamic(g, kind):
    """Scales of inputs of 10^-3 times those of weights: their product is below the normal numbers of f16."""
    whole, scale, zero = g.op("DynamicQuantizeLinear", g.op("Mul", "x", g.constant(np.float32(1e-3))), outputs=3)
    weights = g.constant(RNG.integers(-128, 128, (300, 40)).astype(np.int8))
    sums = g.op("Cast", g.op("MatMulInteger", whole, weights, zero), to=TensorProto.FLOAT)
    scaled = g.op("Mul", sums, g.op("Mul", scale, g.constant(np.float32(2e-3))))
    return g.op("Mul", scaled, g.constant(np.float32(1e3))), 0.03


def pairs(g, kind):
    """QuantizeLinear and DequantizeLinear between floats, with numbers of 16 bits in unequal scales."""
    value = "x"
    for scale in (1e-4, 3e-4):
        steps, zero = g.constant(np.float32(scale)), g.constant(np.uint16(40000))
        value = g.op("DequantizeLinear", g.op("QuantizeLinear", value, steps, zero), steps, zero)
        value = g.op("Tanh", value)
    return value, 1e-3


CASES = {"qlinear": (qlinear, X, 17), "dynamic": (dynamic, ROWS, 17), "pairs": (pairs, X, 21)}


@pytest.mark.parametrize("processor", ["a3", "a5"])
@pytest.mark.parametrize("mode", ["F32", "F16", "BF16"])
@pytest.mark.parametrize("name", CASES)
def test_narrowed(name, mode, processor, tmp_path):
    make, feed, opset = CASES[name]
    g = Graph(opset)
    result, step = make(g, name)
    g.save(tmp_path / "m.onnx", feed, result)
    (want,) = run_onnx(tmp_path / "m.onnx", {"x": feed}).values()
    compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), mode, processor, 1, False)
    (got,) = InferenceSession(str(tmp_path / "m.pmodel")).run(None, {"x": feed})
    # In F32 as onnxruntime, but for a tie; narrowed, what is rounded before it is quantised moves by a step, or by as
    # much as bf16 has less bits.
    steps = {"F32": 1, "F16": 1, "BF16": 8}[mode]
    differences = np.abs(got - want)
    assert differences.max() <= 1.001 * steps * step
    assert mode != "F32" or (differences > 0.01 * step).mean() < 1e-3


def transformed(command, folder, x, *options):
    """model_transform of m.onnx in `folder` with input `x`."""
    np.savez(folder / "x.npz", x=x)
    names = ["--model_name", "m", "--model_def", folder / "m.onnx", "--mlir", folder / "m.mlir"]
    return command(model_transform, *names, "--test_input", folder / "x.npz", *options)


@pytest.mark.parametrize("name", ["qlinear", "pairs"])
def test_every_tensor_is_compared(command, name, tmp_path):
    """This machine's CPU has no code for unsigned integers of the module; the cmodel has."""
    make, feed, opset = CASES[name]
    g = Graph(opset)
    g.save(tmp_path / "m.onnx", feed, make(g, name)[0])
    code, out, err = transformed(command, tmp_path, feed, "--test_result", tmp_path / "r.npz", "--debug")
    assert code == 0 and " 0 lost" in out, out + err
    assert "cmodel against onnxruntime" in out
    assert {node.output[0] for node in g.nodes} <= set(np.load(tmp_path / "r.npz"))


def test_images_of_bytes_are_compared(command, tmp_path):
    """Their cast is the first op; a division of i64 is the host's."""
    nodes = [
        helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["x"], ["i"], to=TensorProto.INT64),
        helper.make_node("Div", ["i", "seven"], ["q"]),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 3, 4, 5])]
    outputs = [
        helper.make_tensor_value_info("f", TensorProto.FLOAT, [1, 3, 4, 5]),
        helper.make_tensor_value_info("q", TensorProto.INT64, [1, 3, 4, 5]),
    ]
    constants = [numpy_helper.from_array(np.array(7), "seven")]
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), tmp_path / "m.onnx")
    code, out, err = transformed(command, tmp_path, RNG.integers(0, 256, (1, 3, 4, 5)).astype(np.uint8))
    assert code == 0 and "passed" in out, out + err

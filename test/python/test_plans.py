"""Kernels that cannot be built as they are formed: a plan of smaller ones, or of other ops, is taken instead."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import compiler
from pto_mlir.reference import run_onnx
from pto_mlir.runtime import InferenceSession

RNG = np.random.default_rng(0)


class Graph:
    def __init__(self):
        self.nodes, self.feed, self.weights, self.outputs = [], {}, {}, []

    def input(self, *shape):
        name = f"x{len(self.feed)}"
        self.feed[name] = RNG.uniform(-1, 1, shape).astype(np.float32)
        return name

    def weight(self, *shape):
        name = f"w{len(self.weights)}"
        self.weights[name] = RNG.uniform(-1, 1, shape).astype(np.float32)
        return name

    def add(self, op, *operands, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, operands, [name], **attributes))
        return name

    def save(self, path):
        infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape) for n, v in self.feed.items()]
        graph = helper.make_graph(
            self.nodes,
            "g",
            infos,
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs],
            [numpy_helper.from_array(value, name) for name, value in self.weights.items()],
        )
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def combined(op, count, *shape):
    g = Graph()
    g.outputs.append(g.add(op, *(g.input(*shape) for _ in range(count))))
    return g


def many_outputs(count):
    g = Graph()
    value = g.input(64, 100)
    for i in range(count):
        value = g.add(("Sigmoid", "Tanh", "Abs", "Exp")[i % 4], value)
        g.outputs.append(value)
    return g


def many_products(count):
    g = Graph()
    value = g.input(64, 100)
    g.outputs += [g.add("Mul", value, g.weight(100)) for _ in range(count)]
    return g


def chain(g, value, shape, count):
    for i in range(count):
        other = (shape, shape[-1:], (*shape[:-1], 1))[i % 3]
        value = g.add(("Add", "Mul", "Max", "Sub")[i % 4], value, g.input(*other))
    return value


def behind_product(count):
    g = Graph()
    g.outputs.append(chain(g, g.add("MatMul", g.input(96, 128), g.weight(128, 256)), (96, 256), count))
    return g


def in_front_of_softmax(count):
    g = Graph()
    g.outputs.append(g.add("Softmax", chain(g, g.input(60, 700), (60, 700), count)))
    return g


def window(op, shape, *filter_shape, **attributes):
    g = Graph()
    g.outputs.append(g.add(op, g.input(*shape), *([g.weight(*filter_shape)] if filter_shape else []), **attributes))
    return g


def itself_again():
    g = Graph()
    value = g.add("Abs", g.input(257, 61, 61))
    g.outputs += [value, g.add("Max", value, value)]
    return g


GRAPHS = {
    "sum_of_100": lambda: combined("Sum", 100, 64, 96),
    "maximum_of_300": lambda: combined("Max", 300, 4, 33),
    "130_outputs_of_one_input": lambda: many_products(130),
    "80_outputs": lambda: many_outputs(80),
    "60_operands_behind_a_product": lambda: behind_product(60),
    "60_operands_in_front_of_softmax": lambda: in_front_of_softmax(60),
    "convolution_299_by_2": lambda: window("Conv", (1, 3, 300, 300), 5, 3, 299, 2),
    "transposed_65_by_65": lambda: window("ConvTranspose", (1, 3, 9, 9), 3, 5, 65, 65),
    "transposed_300": lambda: window("ConvTranspose", (1, 3, 9, 9), 3, 5, 3, 300),
    "maximum_over_2000": lambda: window("MaxPool", (1, 5, 3, 5000), kernel_shape=[1, 2000]),
    "maximum_over_8999": lambda: window("MaxPool", (1, 8, 9000), kernel_shape=[8999]),
    "mean_over_2000": lambda: window("AveragePool", (1, 5, 3, 5000), kernel_shape=[1, 1999], pads=[0, 7, 0, 900]),
    "mean_over_700": lambda: window(
        "AveragePool", (1, 5, 900, 5), kernel_shape=[700, 1], strides=[3, 2], pads=[9, 0, 8, 0], count_include_pad=1
    ),
    "itself_again": itself_again,
}


@pytest.mark.parametrize("mode", ["F32", "F16"])
@pytest.mark.parametrize("name", GRAPHS)
def test_another_plan_is_taken(name, mode, tmp_path):
    """On the engines, with onnxruntime's numbers."""
    g = GRAPHS[name]()
    g.save(tmp_path / "m.onnx")
    compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")
    files = str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel")
    info = compiler.deploy(*files, mode, "a3" if mode == "F32" else "a5", 24, False)
    assert not info["host_ops"]
    session = InferenceSession(str(tmp_path / "m.pmodel"))
    values = dict(zip([o.name for o in session.get_outputs()], session.run(None, g.feed)))
    for key, expected in run_onnx(tmp_path / "m.onnx", g.feed).items():
        bound = (3e-5 if mode == "F32" else 2e-2) * max(1, np.max(np.abs(expected)))
        assert np.max(np.abs(values[key] - expected)) <= bound, key

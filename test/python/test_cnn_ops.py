"""Operators of convolutional networks to numbers on the cmodel, beside onnxruntime's: a net of many branches per family."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from pto_mlir import compiler
from pto_mlir.reference import run_onnx
from pto_mlir.runtime import InferenceSession

F = TensorProto.FLOAT
TOLERANCE = {"F32": 2e-5, "F16": 4e-3, "BF16": 4e-2}


def rand(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


def f32(*values):
    return np.array(values, np.float32)


class Net:
    """Collects branches: each is one node with its own output."""

    def __init__(self, opset, **inputs):
        self.opset, self.inputs, self.nodes, self.weights = opset, inputs, [], []

    def add(self, op, data, *operands, **attributes):
        """`data`: a tensor's name or several; `operands`: arrays, "" for an absent one. Returns the output's name."""
        names = [data] if isinstance(data, str) else list(data)
        for value in operands:
            if isinstance(value, str):
                names.append(value)
                continue
            names.append(f"w{len(self.weights)}")
            self.weights.append(numpy_helper.from_array(value, names[-1]))
        output = f"y{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, names, [output], name=f"{op}_{output}", **attributes))
        return output

    def save(self, path):
        used = {name for node in self.nodes for name in node.input}
        outputs = [node.output[0] for node in self.nodes if node.output[0] not in used]
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info(n, F, s) for n, s in self.inputs.items()],
                                  [helper.make_tensor_value_info(o, F, None) for o in outputs], self.weights)  # fmt: skip
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8), str(path))


def check(net, folder, mode, cores=1):
    onnx_file, mlir, model = folder / "m.onnx", folder / "m.mlir", folder / "m.pmodel"
    net.save(onnx_file)
    feed = {name: rand(*shape, seed=5 + i) for i, (name, shape) in enumerate(net.inputs.items())}
    expected = run_onnx(onnx_file, feed)
    compiler.transform(str(onnx_file), "m", [], [], str(mlir), "")
    compiler.deploy(str(mlir), str(model), mode, "a3", cores, False)
    session = InferenceSession(str(model))
    names = [output.name for output in session.get_outputs()]
    nodes = {node.output[0]: node for node in net.nodes}
    for name, value in zip(names, session.run(None, feed)):
        assert value.shape == expected[name].shape, nodes[name]
        scale = max(1.0, float(np.max(np.abs(expected[name]))))
        error = np.max(np.abs(value - expected[name])) / scale
        assert error <= TOLERANCE[mode], (error, nodes[name])


def conv_transpose():
    net = Net(13, x=[1, 6, 5, 7], z=[2, 3, 9])
    add = lambda *weights, data="x", **attributes: net.add("ConvTranspose", data, *weights, **attributes)
    add(rand(6, 5, 2, 2), rand(5), strides=[2, 2])
    add(rand(6, 17, 3, 2), rand(17), strides=[2, 3], pads=[1, 0, 0, 2], output_padding=[1, 2])
    add(rand(6, 4, 3, 3), pads=[1, 1, 1, 1])
    add(rand(6, 4, 4, 4), rand(12), strides=[2, 2], pads=[1, 1, 1, 1], group=3)
    add(rand(6, 1, 3, 3), strides=[2, 1], group=6)
    add(rand(6, 3, 2, 3), strides=[1, 2], dilations=[3, 2])
    add(rand(6, 3, 3, 3), rand(3), strides=[2, 2], output_shape=[10, 14], auto_pad="SAME_UPPER")
    add(rand(6, 3, 1, 1), strides=[3, 2])
    add(rand(6, 3, 4, 4), strides=[2, 2], pads=[5, 0, 3, 6])
    add(rand(3, 4, 3), rand(4), data="z", strides=[2], pads=[1, 0])
    return net


def resize():
    net = Net(13, x=[1, 8, 6, 9], z=[2, 3, 5, 4])
    shapes = [f32(1, 1, 2, 2), f32(1, 1, 3, 2), f32(1, 1, 0.5, 2.5), f32(1, 1, 1.7, 0.6), f32(1, 2, 1, 3)]
    coordinates = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    nearest = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
    for i, scales in enumerate(shapes):
        for data in "xz"[: 1 + i % 2]:
            net.add("Resize", data, "", scales, mode="nearest", coordinate_transformation_mode=coordinates[i % 4], nearest_mode=nearest[(i + 2) % 4])
    net.add("Resize", "x", "", f32(1, 1, 2, 4), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    for i, coordinate in enumerate(coordinates):
        net.add("Resize", "xz"[i % 2], "", shapes[i], mode="linear", coordinate_transformation_mode=coordinate)
        net.add("Resize", "xz"[i % 2], "", "", i64(*net.inputs["xz"[i % 2]][:2], 11, 13), mode="linear", coordinate_transformation_mode=coordinate)
    net.add("Resize", "x", "", f32(1, 1, 2, 2), mode="cubic")
    net.add("Resize", "z", "", f32(1, 1, 0.7, 1.6), mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1)
    net.add("Resize", "x", f32(0, 0, 0.2, -0.1, 1, 1, 0.9, 1.3), "", i64(1, 8, 7, 5), mode="linear",
            coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=2.0)  # fmt: skip
    return net


@pytest.mark.parametrize("mode", ["F32", "F16"])
@pytest.mark.parametrize("family", [conv_transpose, resize], ids=lambda f: f.__name__)
def test_family(family, mode, tmp_path):
    check(family(), tmp_path, mode)

"""Models with nodes that kernels of users compute, and their sessions."""

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy, model_transform

KERNELS = Path(__file__).with_name("kernels_of_tests.py")
EVERYWHERE = [("a3", 1), ("a3", 24), ("a5", 8)]


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), domain="example", **attributes)


def save(folder, nodes, inputs, outputs, weights=(), functions=()):
    initializers = [onnx.numpy_helper.from_array(array, name) for name, array in dict(weights).items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("example", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=list(functions))
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    return folder / "m.onnx"


@pytest.fixture
def convert(command):
    """The session of a model, or what model_transform or model_deploy says."""

    def run(model, processor="a3", blocks=1, quantize="F32", kernels=KERNELS, session=True):
        mlir, pmodel = model.with_suffix(".mlir"), model.with_suffix(".pmodel")
        code, out, err = command(
            model_transform, "--model_name", "m", "--model_def", model, "--mlir", mlir, "--kernels", kernels
        )
        if code == 0:
            options = ["--quantize", quantize, "--processor", processor, "--num_core", blocks]
            code, out, err = command(model_deploy, "--mlir", mlir, "--model", pmodel, *options)
        if not session:
            assert code == 1 and not pmodel.exists() and err.count("\n") <= 2, out + err
            return err
        assert code == 0, out + err
        return InferenceSession(pmodel)

    return run

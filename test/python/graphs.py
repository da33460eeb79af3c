"""Helpers that build small ONNX graphs."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def weight(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def save(path, nodes, inputs, outputs, weights=(), opset=17):
    model = helper.make_model(
        helper.make_graph(nodes, "main", inputs, outputs, list(weights)),
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=8,
    )
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)

"""Models of one node, with what onnxruntime makes of them."""

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper


def model(node, arrays, opset):
    """The model with inputs of the arrays' types and shapes, in the order of the node's inputs that are there."""
    names = filter(None, node.input)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in zip(names, map(np.asarray, arrays), strict=True)
    ]
    results = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = helper.make_graph([node], "g", infos, results)
    opsets = [helper.make_opsetid("", opset)]
    if node.domain:
        opsets.append(helper.make_opsetid(node.domain, 1))
    made = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return onnx.shape_inference.infer_shapes(made)


def onnxruntime(node, arrays, opset):
    """The node's outputs."""
    made = model(node, arrays, opset)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(made.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, dict(zip([info.name for info in made.graph.input], map(np.asarray, arrays), strict=True)))

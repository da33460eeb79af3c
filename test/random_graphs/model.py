"""A graph under test: nodes, inputs and weights with their values, outputs; and the ONNX model that it is."""

from __future__ import annotations

from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

IR = 10
FLOATS = {
    TensorProto.FLOAT: np.float32,
    TensorProto.FLOAT16: np.float16,
    TensorProto.BFLOAT16: ml_dtypes.bfloat16,
    TensorProto.DOUBLE: np.float64,
}
NARROW = (TensorProto.INT4, TensorProto.UINT4, TensorProto.INT2, TensorProto.UINT2)
INTEGERS = tuple(getattr(TensorProto, f"{sign}INT{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64))
KINDS = (*FLOATS, *INTEGERS, *NARROW, TensorProto.BOOL)


def numpy_type(kind: int) -> np.dtype:
    return np.dtype(helper.tensor_dtype_to_np_dtype(kind))


def attribute(node: onnx.NodeProto, name: str, default=None):
    return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


@dataclass
class Graph:
    """`inputs` and `weights`: arrays of the model's own types, by name; `kinds`: the ONNX type of every value."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)
    kinds: dict[str, int] = field(default_factory=dict)
    opset: int = 21

    def given(self) -> dict[str, np.ndarray]:
        return self.inputs | self.weights

    def used(self) -> set[str]:
        return {name for node in self.nodes for name in reads(node)} | set(self.outputs)

    def model(self) -> onnx.ModelProto:
        info = lambda name, shape: helper.make_tensor_value_info(name, self.kinds[name], shape)
        graph = helper.make_graph(
            self.nodes,
            "g",
            [info(name, value.shape) for name, value in self.inputs.items()],
            [info(name, None) for name in self.outputs],
            [tensor(value, self.kinds[name], name) for name, value in self.weights.items()],
        )
        domains = sorted({node.domain for node in self.nodes} - {""})
        imports = [helper.make_opsetid("", self.opset), *(helper.make_opsetid(name, 1) for name in domains)]
        return helper.make_model(graph, opset_imports=imports, ir_version=IR + (self.opset > 22) * 2)

    def text(self) -> str:
        """One line per node."""
        lines = [f"opset {self.opset}"]
        for what, values in (("input", self.inputs), ("weight", self.weights)):
            lines += [f"{what} {name}: {_typed(self.kinds[name], value.shape)}" for name, value in values.items()]
        for node in self.nodes:
            shown = ", ".join(f"{a.name}={_short(a)}" for a in node.attribute)
            lines.append(f"{', '.join(node.output)} = {node.op_type}({', '.join(node.input)}; {shown})")
        return "\n".join([*lines, f"outputs {', '.join(self.outputs)}"])


def reads(node: onnx.NodeProto) -> list[str]:
    """What a node reads, with what its bodies read from outside."""
    names = [name for name in node.input if name]
    for a in node.attribute:
        if a.type == onnx.AttributeProto.GRAPH:
            made = {i.name for i in a.g.input} | {o for n in a.g.node for o in n.output}
            made |= {i.name for i in a.g.initializer}
            inner = [name for n in a.g.node for name in reads(n)] + [o.name for o in a.g.output]
            names += [name for name in inner if name not in made]
    return names


def tensor(value: np.ndarray, kind: int, name: str) -> TensorProto:
    made = numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name)
    assert made.data_type == kind, (name, made.data_type, kind)
    return made


def _typed(kind: int, shape) -> str:
    return f"{TensorProto.DataType.Name(kind).lower()}{list(shape)}"


def _short(a: onnx.AttributeProto) -> str:
    value = helper.get_attribute_value(a)
    if isinstance(value, onnx.TensorProto):
        return str(numpy_helper.to_array(value).tolist())
    if isinstance(value, onnx.GraphProto):
        return "{" + "; ".join(f"{', '.join(n.output)} = {n.op_type}({', '.join(n.input)})" for n in value.node) + "}"
    return value.decode() if isinstance(value, bytes) else str(value)

"""What F16 costs a network by itself: onnxruntime with rounded filters, input and tensors, beside a `.pmodel` of the
same network.

    PYTHONPATH=build/python .venv/bin/python benchmarks/f16_floor.py MODEL.onnx [MODEL.pmodel ..] [--seeds 24]

Inputs are uniform noise in [0, 1). Each line is the greatest error of the outputs against onnxruntime's f32: mean,
median, least and greatest over the inputs. Rounding the filters is what no converter to F16 avoids; one rounding per
kernel adds the tensors that kernels exchange.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import cli
from pto_mlir.reference import graph_of
from pto_mlir.runtime import InferenceSession

HEAVY = ("Conv", "ConvTranspose", "MatMul", "Gemm", "GlobalAveragePool", "MaxPool", "AveragePool")


def half(value: np.ndarray) -> np.ndarray:
    return np.clip(value, -65504, 65504).astype(np.float16).astype(np.float32)


def session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def rounded(path: str, filters: bool, tensors: str) -> onnx.ModelProto:
    """The network with filters of two dimensions and more rounded, and `tensors`: none, each that one of our kernels
    would store, or all."""
    model = onnx.load(path)
    graph = model.graph
    constants = [a.t for n in graph.node if n.op_type == "Constant" for a in n.attribute if a.name == "value"]
    for tensor in [*graph.initializer, *constants]:
        value = numpy_helper.to_array(tensor)
        if filters and value.dtype == np.float32 and value.ndim >= 2:
            tensor.CopyFrom(numpy_helper.from_array(half(value), tensor.name))
    if tensors == "none":
        return model
    types = {v.name: v.type.tensor_type.elem_type for v in onnx.shape_inference.infer_shapes(model).graph.value_info}
    readers: dict[str, list[str]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node.op_type)

    def ends_a_kernel(node: onnx.NodeProto) -> bool:
        after = readers.get(node.output[0], [])
        heavy = node.op_type in HEAVY and "BatchNormalization" not in after
        return heavy or node.op_type == "BatchNormalization" or len(after) > 1 or any(op in HEAVY for op in after)

    nodes, outputs = [], {o.name for o in graph.output}
    for node in graph.node:
        nodes.append(node)
        name = node.output[0]
        if (
            types.get(name) != TensorProto.FLOAT
            or name in outputs
            or node.op_type in ("Constant", "Reshape")
            or not (tensors == "all" or ends_a_kernel(node))
        ):
            continue
        node.output[0] = name + "_f32"
        nodes += [
            helper.make_node("Cast", [name + "_f32"], [name + "_f16"], to=TensorProto.FLOAT16),
            helper.make_node("Cast", [name + "_f16"], [name], to=TensorProto.FLOAT),
        ]
    del graph.node[:]
    graph.node.extend(nodes)
    return model


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("onnx", help="a network with one float input")
    parser.add_argument("pmodel", nargs="*", help="the same network, deployed")
    parser.add_argument("--seeds", type=int, default=24, help="inputs")
    args = parser.parse_args()
    graph_of(args.onnx)  # one line for what is no ONNX file
    exact = session(onnx.load(args.onnx))
    deployed = [(path, InferenceSession(path)) for path in args.pmodel]
    name = exact.get_inputs()[0].name
    shape = [d if isinstance(d, int) else None for d in exact.get_inputs()[0].shape]
    if None in shape and deployed:
        shape = deployed[0][1].get_inputs()[0].shape
    inputs = [np.random.default_rng(seed).uniform(0, 1, shape).astype(np.float32) for seed in range(args.seeds)]
    expected = [exact.run(None, {name: x}) for x in inputs]

    def line(what: str, run, change=lambda x: x) -> None:
        errors = [
            max(np.abs(a.astype(np.float64) - b).max() for a, b in zip(run(None, {name: change(x)}), y))
            for x, y in zip(inputs, expected)
        ]
        print(
            f"{what:<44} mean {np.mean(errors):.2e}  median {np.median(errors):.2e}  least {min(errors):.2e}  "
            f"greatest {max(errors):.2e}"
        )

    line("input rounded", exact.run, half)
    line("filters rounded", session(rounded(args.onnx, True, "none")).run)
    line("filters, input", session(rounded(args.onnx, True, "none")).run, half)
    line("filters, input, one rounding per kernel", session(rounded(args.onnx, True, "kernels")).run, half)
    line("filters, input, every tensor", session(rounded(args.onnx, True, "all")).run, half)
    for path, runner in deployed:
        line(path.rsplit("/", 1)[-1], runner.run)
    return 0


if __name__ == "__main__":
    sys.exit(cli.run("f16_floor", lambda _: main()))

"""onnxruntime on the original ONNX file: the reference that everything is compared with."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from . import inner_tensors
from .compare import Graph
from .errors import UserError


def run_onnx(path: str | Path, feed: dict[str, np.ndarray], all_tensors: bool = False) -> dict[str, np.ndarray]:
    """Named outputs of an ONNX model on one thread; with `all_tensors` every named tensor of the graph too, and of its
    subgraphs the last value where onnxruntime can give it."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    if all_tensors:
        # Fusions would hide tensors; the reference is the graph as it is written.
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        if all_tensors and (model := inner_tensors.exposed(path)):
            try:
                return _run(
                    ort.InferenceSession(model.text, options, providers=["CPUExecutionProvider"]),
                    path,
                    feed,
                    model.unwrap,
                )
            except UserError:
                raise
            except (
                Exception
            ):  # a tensor whose shape changes from trip to trip cannot be collected: go on without the inner ones
                pass
        whole = _with_all_outputs(path) if all_tensors else str(path)
        return _run(
            ort.InferenceSession(whole, options, providers=["CPUExecutionProvider"]), path, feed, lambda values: values
        )
    except UserError:
        raise
    except Exception as error:  # onnxruntime's exceptions have no common base class
        raise UserError(f"{path}: onnxruntime: {' '.join(str(error).split())}") from None


def constants(path: str | Path, inputs: Iterable[str]) -> dict[str, str]:
    """Tensors of the main graph that no kernel has to compute, with the reason: no input's elements reach them, or
    nothing reads them."""
    import onnx

    graph = onnx.load(str(path), load_external_data=False).graph
    runs = set(inputs)  # what depends on a run
    reasons: dict[str, str] = {}
    for node in graph.node:
        inner = {name for a in node.attribute for body in (a.g, *a.graphs) for n in body.node for name in n.input}
        reached = node.op_type not in ("Shape", "Size") and not runs.isdisjoint({*node.input, *inner})
        if reached or node.op_type.startswith("Random"):
            runs.update(node.output)
        else:
            reasons |= {name: "a constant" for name in node.output if name}
    read = _names_read(graph)
    unread = (name for node in graph.node for name in node.output if name and name not in read)
    return dict.fromkeys(unread, "read by nothing") | reasons


def _names_read(graph) -> set[str]:
    """All names that nodes of a graph and of its subgraphs read, and those of their outputs."""
    names = {output.name for output in graph.output}
    for node in graph.node:
        names.update(node.input)
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                names |= _names_read(body)
    return names


def _run(session, path, feed, unwrap) -> dict[str, np.ndarray]:
    missing = [i.name for i in session.get_inputs() if i.name not in feed]
    if missing:
        raise UserError(f"{path}: input {missing[0]!r} is missing from the test input (it has {', '.join(feed)})")
    names = [o.name for o in session.get_outputs()]
    return unwrap(dict(zip(names, session.run(names, {i.name: feed[i.name] for i in session.get_inputs()}))))


def _with_all_outputs(path: str | Path) -> bytes | str:
    """The model with every node output as a graph output. External data keeps its place beside a temporary copy."""
    import onnx

    model = onnx.load(str(path), load_external_data=True)
    inner_tensors.add_node_outputs(model)
    return model.SerializeToString()


def graph_of(path: str | Path) -> Graph:
    """Operator and inputs of every tensor that a node of an ONNX model computes, in the order of the nodes; subgraphs
    are not entered."""
    import onnx

    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception as error:  # protobuf's exceptions have no common base class with onnx's
        raise UserError(f"{path}: not a readable ONNX model: {str(error).splitlines()[0]}") from None
    return {
        name: (node.op_type, [i for i in node.input if i]) for node in model.graph.node for name in node.output if name
    }

"""What is computed within If, Loop and Scan, as outputs of the model: for comparisons.

A body gives every tensor as one more row of a collected output, a branch as one more output, empty where it is not
taken. What stands in a branch within a loop is left out, and so are names that several subgraphs use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MARK = "/inner"  # behind a tensor's name: an output that was added, one mark per subgraph around it


@dataclass
class Exposed:
    """A model with more outputs, and what takes a run's values to tensors by name."""

    text: bytes
    unwrap: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]


def _bodies(node):
    return [attribute.g for attribute in node.attribute if attribute.HasField("g")]


def _names(graph) -> list[str]:
    own = [name for node in graph.node for name in node.output if name]
    return own + [name for node in graph.node for body in _bodies(node) for name in _names(body)]


def _expose(graph, wanted: set[str], types: dict[str, int], in_loop: bool) -> None:
    """Adds outputs to the control flow of a graph, innermost first."""
    import onnx
    from onnx import helper

    for node in graph.node:
        bodies = _bodies(node)
        if node.op_type not in ("If", "Loop", "Scan") or (node.op_type == "If" and in_loop):
            continue
        for body in bodies:
            _expose(body, wanted, types, in_loop or node.op_type != "If")
        for body in bodies:
            added = [
                name
                for inner in body.node
                for name in inner.output
                if name in types and (name in wanted or name.endswith(MARK))
            ]
            for name in added:
                result = name + MARK
                types[result] = types[name]
                node.output.append(result)
                for other in bodies:
                    if other is body:  # under a name of its own: it may be an output already
                        other.node.append(helper.make_node("Identity", [name], [result]))
                    else:
                        empty = onnx.TensorProto(data_type=types[name], dims=[0])
                        other.node.append(helper.make_node("Constant", [], [result], value=empty))
                    other.output.append(
                        helper.make_value_info(result, helper.make_tensor_type_proto(types[name], None))
                    )
        if node.op_type == "Scan":
            count = len(bodies[0].output) - (
                len(node.input) - next(a.i for a in node.attribute if a.name == "num_scan_inputs")
            )
            for attribute in node.attribute:
                if attribute.name in ("scan_output_axes", "scan_output_directions"):
                    attribute.ints.extend([0] * (count - len(attribute.ints)))


def _types(graph, types: dict[str, int]) -> None:
    for value in (*graph.value_info, *graph.output):
        if value.type.HasField("tensor_type"):
            types[value.name] = value.type.tensor_type.elem_type
    for node in graph.node:
        for body in _bodies(node):
            _types(body, types)


def add_node_outputs(model) -> None:
    """Makes every output of the main graph's nodes an output of the model."""
    import onnx

    present = {o.name for o in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name and name not in present:
                present.add(name)
                model.graph.output.append(onnx.ValueInfoProto(name=name))


def exposed(path: str | Path) -> Exposed | None:
    """The model with all of its tensors as outputs; None when it has no control flow."""
    import onnx

    model = onnx.load(str(path), load_external_data=False)
    if not any(node.op_type in ("If", "Loop", "Scan") for node in model.graph.node):
        return None
    onnx.load_external_data_for_model(model, str(Path(path).parent))
    types: dict[str, int] = {}
    _types(onnx.shape_inference.infer_shapes(model).graph, types)
    counts = Counter(_names(model.graph))
    _expose(model.graph, {name for name, count in counts.items() if count == 1}, types, False)
    add_node_outputs(model)
    loops = {name for node in model.graph.node if node.op_type != "If" for name in node.output}

    def unwrap(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        result = {}
        for name, value in values.items():
            plain = name.replace(MARK, "")
            # Rows of a loop within a loop have one more dimension per loop.
            depth = name.count(MARK) if name in loops else 0
            if plain != name and value.size == 0:
                continue
            for _ in range(depth):
                value = value[-1]
            result[plain] = np.asarray(value)
        return result

    return Exposed(model.SerializeToString(), unwrap)

"""Shrinks a failing graph to a few nodes, and writes it as .onnx with its inputs, and as a short Python text."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx

from .check import Outcome, Target, check, kind
from .exact import trace
from .generate import prune
from .model import FLOATS, Graph, numpy_type, reads
from .workers import each


def _fails(graph: Graph, outcome: Outcome, targets: Sequence[Target], limit: float) -> bool:
    """Whether a graph has that outcome, in a process of its own."""
    if not graph.nodes or not graph.outputs:
        return False
    work = lambda candidate: check(candidate, targets)
    ((_, now),) = each([graph], work, 1, limit)
    return now.status == outcome.status and (now.status != "refused" or kind(now.reason) == kind(outcome.reason))


def _alive(graph: Graph) -> Graph:
    """Without nodes that no output needs."""
    needed, kept = set(graph.outputs), []
    for node in reversed(graph.nodes):
        if needed & set(node.output):
            kept.insert(0, node)
            needed |= set(reads(node))
    graph.nodes = kept
    prune(graph)
    return graph


def _with(graph: Graph, **changes) -> Graph:
    made = copy.copy(graph)
    made.inputs, made.weights = dict(graph.inputs), dict(graph.weights)
    for name, value in changes.items():
        setattr(made, name, value)
    return _alive(made)


def _without(graph: Graph, node: onnx.NodeProto, values, as_weights: bool) -> Graph:
    """The node's outputs become inputs or weights with the values that they have."""
    made = copy.copy(graph)
    made.inputs, made.weights = dict(graph.inputs), dict(graph.weights)
    made.nodes = [n for n in graph.nodes if n is not node]
    for name in filter(None, node.output):
        array = values[name].array
        if graph.kinds[name] in FLOATS:
            array = array.astype(np.float16).astype(numpy_type(graph.kinds[name]))
        (made.weights if as_weights else made.inputs)[name] = array
    made.outputs = [name for name in graph.outputs if name not in node.output]
    return _alive(made) if made.outputs else made


def reduce(graph: Graph, outcome: Outcome, targets: Sequence[Target], limit: float = 60) -> Graph:
    """The smallest graph that was found with the same outcome."""
    fails = lambda candidate: _fails(candidate, outcome, targets, limit)
    for names in ([[name] for name in graph.outputs]) if len(graph.outputs) > 1 else []:
        if fails(small := _with(graph, outputs=names)):
            graph = small
            break
    shrunk = True
    while shrunk and len(graph.nodes) > 1:
        shrunk = False
        if fails(small := _with(graph)):
            shrunk, graph = len(small.nodes) < len(graph.nodes), small
        values = trace(graph, targets[0].mode)
        for node in list(graph.nodes):
            if len(graph.nodes) < 2 or not any(node is n for n in graph.nodes):
                continue
            ends = [o for n in graph.nodes if n is not node and set(n.output) & set(reads(node)) for o in n.output]
            choices = [_without(graph, node, values, False), _without(graph, node, values, True)]
            if set(node.output) & set(graph.outputs) and ends:
                choices.append(_with(graph, outputs=ends))
            for small in choices:
                if fails(small):
                    graph, shrunk = small, True
                    break
    return graph


def write(graph: Graph, outcome: Outcome, targets: Sequence[Target], folder: Path, name: str) -> Path:
    """NAME.onnx, NAME.npz with its inputs, and NAME.py, which makes both and says what went wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(graph.model(), folder / f"{name}.onnx")
    bits = {k: v if v.dtype.isbuiltin else v.view(f"u{v.dtype.itemsize}") for k, v in graph.inputs.items()}
    np.savez(folder / f"{name}.npz", **bits)
    (folder / f"{name}.py").write_text(python_text(graph, outcome, targets))
    return folder / f"{name}.py"


def python_text(graph: Graph, outcome: Outcome, targets: Sequence[Target]) -> str:
    """Python that makes the graph and checks it, with random_graphs on the path."""
    lines = [f'"""{outcome.status} on {[" ".join(map(str, t)) for t in targets]}: {outcome.reason}"""']
    lines += ["import numpy as np", "from onnx import helper, parser", "from random_graphs.check import Target, check"]
    lines += ["from random_graphs.model import Graph, numpy_type", ""]
    lines += [f"graph = Graph(opset={graph.opset}, outputs={graph.outputs}, kinds={graph.kinds})"]
    for place in ("inputs", "weights"):
        for key, value in getattr(graph, place).items():
            text = np.array2string(
                value.astype(float) if value.dtype.kind == "V" else value, separator=",", threshold=10**6
            )
            text = " ".join(text.split())
            array = f"np.array({text}).astype(numpy_type({graph.kinds[key]})).reshape({list(value.shape)})"
            lines.append(f"graph.{place}[{key!r}] = {array.replace('True', '1').replace('False', '0')}")
    for node in graph.nodes:
        lines.append(f"graph.nodes.append(parser.parse_node({onnx.printer.to_text(node)!r}))")
    lines.append(f"print(check(graph, [{', '.join(f'Target(*{tuple(t)!r})' for t in targets)}]))")
    return "\n".join(lines) + "\n"

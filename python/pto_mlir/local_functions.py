"""What is wrong with the functions local to a model, and with nodes that functions are to replace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .errors import UserError

if TYPE_CHECKING:
    import onnx

Key = tuple[str, str]  # domain and name
MOST_NODES = 1 << 20  # that calls may become; some functions call others twice, and so on


def _calls(nodes, keys: dict[Key, onnx.FunctionProto]) -> Iterator[Key]:
    """The functions that nodes and their subgraphs call, once for each call."""
    for node in nodes:
        if (node.domain, node.op_type) in keys:
            yield node.domain, node.op_type
        for attribute in node.attribute:
            for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
                yield from _calls(graph.node, keys)


def title(key: Key) -> str:
    """The name with its domain, as operators are shown."""
    return ".".join(filter(None, key))


def _context(ir_version: int, opsets) -> onnx.checker.C.CheckerContext:
    from onnx import checker

    context = checker.C.CheckerContext()
    context.ir_version = ir_version
    context.opset_imports = {entry.domain: entry.version for entry in opsets}
    return context


def _check_sizes(model: onnx.ModelProto, keys: dict[Key, onnx.FunctionProto]) -> None:
    """Refuses functions that call themselves, and calls that become too many nodes."""
    sizes: dict[Key, int] = {}
    below: list[Key] = []

    def size(key: Key) -> int:
        if key in below:
            circle = [*below[below.index(key) :], key]
            raise UserError(f"function '{title(key)}' calls itself: {' -> '.join(map(title, circle))}")
        if key not in sizes:
            below.append(key)
            sizes[key] = len(keys[key].node) + sum(size(called) for called in _calls(keys[key].node, keys))
            below.pop()
        return sizes[key]

    if sum(size(key) for key in _calls(model.graph.node, keys)) > MOST_NODES:
        raise UserError(f"its functions become more than {MOST_NODES:,} nodes")


def check(model: onnx.ModelProto) -> None:
    """UserError with what is wrong with a function."""
    from onnx import checker

    keys: dict[Key, onnx.FunctionProto] = {}
    overloads = set()
    for function in model.functions:
        key = function.domain, function.name
        if (*key, function.overload) in overloads:
            raise UserError(f"function '{title(key)}' is defined twice")
        overloads.add((*key, function.overload))
        keys[key] = function
        context = _context(model.ir_version, (*model.opset_import, *function.opset_import))
        try:
            checker.check_function(function, context, checker.C.LexicalScopeContext())
        except checker.ValidationError as error:
            raise UserError(f"function '{title(key)}': {' '.join(str(error).split())}") from None
        made = {name for node in function.node for name in node.output} | set(function.input)
        for output in function.output:
            if output not in made:
                raise UserError(f"function '{title(key)}': no node computes its output '{output}'")
    _check_sizes(model, keys)


def broken_nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Nodes with other inputs and attributes than their operator takes, or with an output that exists already."""
    from onnx import checker

    context = _context(model.ir_version, model.opset_import)
    defined = {info.name for info in (*model.graph.input, *model.graph.initializer)}
    for node in model.graph.node:
        made = set(filter(None, node.output))
        try:
            checker.check_node(node, context)
        except checker.ValidationError:
            yield node
            continue
        if made & defined:
            yield node
        defined |= made

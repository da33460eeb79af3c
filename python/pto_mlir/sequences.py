"""Sequences and optionals of known lengths, taken out of a model: their elements become tensors of their own. Loops
that carry one are unrolled, branches that give one are taken, where the trips and conditions are constants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .errors import UserError

MAX_TRIPS = 256  # of an unrolled loop

# What conditions and positions are made of.
FOLDED: dict[str, Callable[..., Any]] = {
    **{"Identity": np.copy, "Not": np.logical_not, "And": np.logical_and, "Or": np.logical_or, "Add": np.add},
    **{"Sub": np.subtract, "Mul": np.multiply, "Equal": np.equal, "Less": np.less, "Greater": np.greater},
}
# What a name stands for: a tensor's name, the names of a sequence's elements, or an optional without value.
Meaning = str | list[str] | None
OPERATORS = {"SplitToSequence", "ConcatFromSequence"}


def is_needed(model: onnx.ModelProto) -> bool:
    """Whether the model has sequences or optionals."""
    ports = (*model.graph.input, *model.graph.output)
    return any(not port.type.HasField("tensor_type") for port in ports) or _reads(model.graph.node)


def _reads(nodes: Iterable[onnx.NodeProto]) -> bool:
    return any(
        node.op_type.startswith(("Sequence", "Optional"))
        or node.op_type in OPERATORS
        or any(_reads(attribute.g.node) for attribute in node.attribute)
        for node in nodes
    )


def flatten(model: onnx.ModelProto, lists: dict[str, Any]) -> tuple[onnx.ModelProto, dict[str, Meaning]]:
    """A copy without sequences, and what its outputs stand for. `lists`: the values of inputs that are sequences or
    optionals, whose elements become inputs NAME.0, NAME.1, .. An error names what is not constant."""
    return _Flattener(model).run(lists)


def flat_feed(feed: dict[str, Any]) -> dict[str, np.ndarray]:
    """Inputs of a flattened model."""
    flat: dict[str, np.ndarray] = {}
    for name, value in feed.items():
        if isinstance(value, list):
            flat |= {f"{name}.{i}": np.asarray(element) for i, element in enumerate(value)}
        elif value is not None:
            flat[name] = np.asarray(value)
    return flat


class _Flattener:
    def __init__(self, model: onnx.ModelProto):
        self.model = model
        self.opset = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 0)
        inferred = onnx.shape_inference.infer_shapes(model).graph
        self.shapes = {
            info.name: [dim.dim_value if dim.HasField("dim_value") else None for dim in info.type.tensor_type.shape.dim]
            for info in (*inferred.input, *inferred.value_info)
            if info.type.HasField("tensor_type")
        }
        self.constants = {weight.name: numpy_helper.to_array(weight) for weight in model.graph.initializer}
        self.nodes: list[onnx.NodeProto] = []
        self.count = 0
        self.defined: set[str] = set()  # a body's names are defined once for each time that it is written out

    def run(self, lists: dict[str, Any]) -> tuple[onnx.ModelProto, dict[str, Meaning]]:
        made = onnx.ModelProto()
        made.CopyFrom(self.model)
        del made.graph.node[:], made.graph.input[:], made.graph.output[:], made.graph.value_info[:]
        names: dict[str, Meaning] = {}
        for info in self.model.graph.input:
            value = lists.get(info.name)
            if info.type.HasField("tensor_type"):
                made.graph.input.append(info)
                names[info.name] = info.name
                continue
            for name, element in flat_feed({info.name: value}).items():
                kind = helper.np_dtype_to_tensor_dtype(element.dtype)
                made.graph.input.append(helper.make_tensor_value_info(name, kind, element.shape))
                self.shapes[name] = list(element.shape)
            names[info.name] = None if value is None else info.name
            if isinstance(value, list):
                names[info.name] = [f"{info.name}.{i}" for i in range(len(value))]
        names |= {weight.name: weight.name for weight in self.model.graph.initializer}
        self.walk(self.model.graph.node, names)
        outputs: dict[str, Meaning] = {}
        for info in self.model.graph.output:
            meaning = names.get(info.name)
            parts = [meaning] if isinstance(meaning, str) else meaning or []
            fresh = [info.name] if isinstance(meaning, str) else [f"{info.name}.{i}" for i in range(len(parts))]
            for part, name in zip(parts, fresh, strict=True):
                if part != name:
                    self.nodes.append(helper.make_node("Identity", [part], [name]))
                made.graph.output.append(onnx.ValueInfoProto(name=name))
            outputs[info.name] = meaning and (fresh[0] if isinstance(meaning, str) else fresh)
        made.graph.node.extend(self.nodes)
        return made, outputs

    def fresh(self, hint: str) -> str:
        self.count += 1
        return f"{hint}.of.{self.count}"

    def emit(self, op: str, inputs: Sequence[str], hint: str, **attributes: Any) -> str:
        name = self.fresh(hint)
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def constant(self, value: np.ndarray | np.generic, hint: str) -> str:
        name = self.emit("Constant", [], hint, value=numpy_helper.from_array(np.asarray(value)))
        self.constants[name] = np.asarray(value)
        return name

    def value(self, node: onnx.NodeProto, meaning: Meaning, what: str) -> Any:
        """The elements of a constant as Python numbers."""
        if isinstance(meaning, str) and meaning in self.constants:
            return self.constants[meaning].tolist()
        raise UserError(f"node of output '{node.output[0]}' ({node.op_type}): {what} must be constant")

    def walk(self, nodes: Iterable[onnx.NodeProto], names: dict[str, Meaning]) -> None:
        """Appends what the nodes become; `names` gets what their outputs stand for."""
        for node in nodes:
            inputs = [names.get(name, name) if name else None for name in node.input]
            special = getattr(self, f"_{node.op_type}", None)
            inner = _reads([node]) or any(not isinstance(value, str) and value is not None for value in inputs)
            if special and (inner or node.op_type in ("Optional",)):
                results = special(node, inputs, names)
                names |= zip(node.output, results, strict=False)
                continue
            if inner and node.op_type != "Identity":
                raise UserError(f"node of output '{node.output[0]}' ({node.op_type}): takes no sequence")
            if node.op_type == "Identity" and not isinstance(inputs[0], str):
                names[node.output[0]] = inputs[0]
                continue
            self.copy(node, names)

    def copy(self, node: onnx.NodeProto, names: dict[str, Meaning]) -> None:
        """A node on tensors with the names that hold here."""
        made = onnx.NodeProto()
        made.CopyFrom(node)
        own = {name: self.fresh(name) for name in node.output if name in self.defined}
        self.defined |= set(node.output) - {""}
        made.output[:] = [own.get(name, name) for name in node.output]
        _rename(made, {name: value for name, value in names.items() if isinstance(value, str)})
        names |= {name: own.get(name, name) for name in node.output if name}
        self.nodes.append(made)
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            self.constants[made.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        elif node.op_type in FOLDED and all(name in self.constants for name in made.input):
            values = [self.constants[name] for name in made.input]
            self.constants[made.output[0]] = np.asarray(FOLDED[node.op_type](*values))

    def _SequenceConstruct(self, node, inputs, names):
        return [inputs]

    def _SequenceEmpty(self, node, inputs, names):
        return [[]]

    def _SequenceLength(self, node, inputs, names):
        return [self.constant(np.int64(len(inputs[0])), node.output[0])]

    def _place(self, node, inputs, i: int, count: int) -> int:
        place = self.value(node, inputs[i], "the position")
        place = place[0] if isinstance(place, list) else place
        if not -count <= place < count:
            raise UserError(f"node of output '{node.output[0]}' ({node.op_type}): position {place} of {count} elements")
        return place % count

    def _SequenceAt(self, node, inputs, names):
        return [inputs[0][self._place(node, inputs, 1, len(inputs[0]))]]

    def _SequenceErase(self, node, inputs, names):
        rest = list(inputs[0])
        del rest[self._place(node, inputs, 1, len(rest)) if len(inputs) > 1 and inputs[1] else -1]
        return [rest]

    def _SequenceInsert(self, node, inputs, names):
        rest = list(inputs[0])
        at = inputs[2] if len(inputs) > 2 else None
        place = self.value(node, at, "the position") if at else len(rest)
        place = place[0] if isinstance(place, list) else place
        if not -len(rest) <= place <= len(rest):
            raise UserError(
                f"node of output '{node.output[0]}' (SequenceInsert): position {place} of {len(rest)} elements"
            )
        rest.insert(place, inputs[1])
        return [rest]

    def _ConcatFromSequence(self, node, inputs, names):
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        parts, axis = inputs[0], attributes["axis"]
        if attributes.get("new_axis", 0):
            parts = [self._with_axis("Unsqueeze", part, axis) for part in parts]
        return [self.emit("Concat", parts, node.output[0], axis=axis)]

    def _with_axis(self, op: str, value: str, axis: int) -> str:
        if self.opset < 13:
            return self.emit(op, [value], value, axes=[axis])
        return self.emit(op, [value, self.constant(np.array([axis]), value)], value)

    def _SplitToSequence(self, node, inputs, names):
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        axis, hint = attributes.get("axis", 0), node.output[0]
        shape = self.shapes.get(inputs[0], [])
        size = shape[axis] if -len(shape) <= axis < len(shape) else None
        if size is None:
            raise UserError(f"node of output '{hint}' (SplitToSequence): the size of its input must be constant")
        given = inputs[1] if len(inputs) > 1 else None
        if given and given not in self.constants:
            return [self._computed_parts(node, inputs[0], given, axis)]
        sizes = self.value(node, given, "the split") if given else 1
        if not isinstance(sizes, list):
            sizes = [min(sizes, size - begin) for begin in range(0, size, sizes)]
        results = [self.fresh(hint) for _ in sizes]
        if len(sizes) == 1:
            self.nodes.append(helper.make_node("Identity", [inputs[0]], results))
        elif self.opset < 13:
            self.nodes.append(helper.make_node("Split", [inputs[0]], results, axis=axis, split=sizes))
        else:
            self.nodes.append(
                helper.make_node("Split", [inputs[0], self.constant(np.array(sizes), hint)], results, axis=axis)
            )
        if not given and not attributes.get("keepdims", 1):
            results = [self._with_axis("Squeeze", result, axis) for result in results]
        return [results]

    def _computed_parts(self, node, value: str, sizes: str, axis: int) -> list[str]:
        """The parts of a split into a known number of sizes that are known at run time only."""
        shape, hint = self.shapes.get(sizes, []), node.output[0]
        if len(shape) != 1 or not shape[0] or self.opset < 13:
            raise UserError(
                f"node of output '{hint}' (SplitToSequence): the split must be constant, or at opset 13 and later a "
                f"list of known length"
            )
        parts = [self.fresh(hint) for _ in range(shape[0])]
        sizes = self.emit("Cast", [sizes], hint, to=onnx.TensorProto.INT64)
        self.nodes.append(helper.make_node("Split", [value, sizes], parts, axis=axis))
        return parts

    def _Optional(self, node, inputs, names):
        return [inputs[0] if inputs else None]

    def _OptionalGetElement(self, node, inputs, names):
        if inputs[0] is None:
            raise UserError(f"node of output '{node.output[0]}' (OptionalGetElement): its optional has no value")
        return [inputs[0]]

    def _OptionalHasElement(self, node, inputs, names):
        return [self.constant(np.bool_(bool(inputs) and inputs[0] is not None), node.output[0])]

    def _body(self, graph: onnx.GraphProto, arguments: Sequence[Meaning], names: dict[str, Meaning]) -> list[Meaning]:
        """What a subgraph's outputs stand for, with `arguments` for its inputs."""
        inner = dict(names)
        inner |= zip((info.name for info in graph.input), arguments, strict=True)
        for weight in graph.initializer:
            inner[weight.name] = self.constant(numpy_helper.to_array(weight), weight.name)
        self.walk(graph.node, inner)
        return [inner[info.name] for info in graph.output]

    def _SequenceMap(self, node, inputs, names):
        count = len(inputs[0])
        rows = [
            self._body(node.attribute[0].g, [value[i] if isinstance(value, list) else value for value in inputs], names)
            for i in range(count)
        ]
        return [[row[i] for row in rows] for i in range(len(node.output))]

    def _If(self, node, inputs, names):
        branch = "then_branch" if self.value(node, inputs[0], "the condition") else "else_branch"
        return self._body(next(a.g for a in node.attribute if a.name == branch), [], names)

    def _Loop(self, node, inputs, names):
        body, hint = node.attribute[0].g, node.output[0]
        trips = self.value(node, inputs[0], "the number of trips")
        goes = self.value(node, inputs[1], "the condition") if len(inputs) > 1 and inputs[1] else True
        trips = trips[0] if isinstance(trips, list) else trips
        if trips > MAX_TRIPS:
            raise UserError(f"node of output '{hint}' (Loop): {trips} trips with a sequence; at most {MAX_TRIPS}")
        carried, rows = inputs[2:], []
        for trip in range(trips if goes else 0):
            number = self.constant(np.int64(trip), hint)
            condition = self.constant(np.bool_(True), hint)
            goes, *results = self._body(body, [number, condition, *carried], names)
            carried, row = results[: len(carried)], results[len(carried) :]
            rows.append([self._with_axis("Unsqueeze", str(part), 0) for part in row])
            if not self.value(node, goes, "the condition of each trip"):
                break
        return [*carried, *(self.emit("Concat", column, hint, axis=0) for column in zip(*rows, strict=True))]


def _rename(node: onnx.NodeProto, names: dict[str, str]) -> None:
    """Gives a node's inputs, and those of its subgraphs that come from outside, their new names."""
    node.input[:] = [names.get(name, name) for name in node.input]
    for attribute in node.attribute:
        if attribute.HasField("g"):
            own = {info.name for info in attribute.g.input} | {weight.name for weight in attribute.g.initializer}
            own |= {name for inner in attribute.g.node for name in inner.output}
            outer = {name: new for name, new in names.items() if name not in own}
            for inner in attribute.g.node:
                _rename(inner, outer)
            for info in attribute.g.output:
                info.name = outer.get(info.name, info.name)

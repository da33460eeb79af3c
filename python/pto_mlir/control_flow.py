"""ONNX models with If, Loop and Scan: what lies between becomes nets, control flow a VM program that calls them.

    compile_model("decoder.onnx", "decoder.pmodel")

The straight parts of every graph and subgraph are compiled as nets of one .pmodel; the program (docs/vm.md) carries tensors from
one to the next, loops and branches. Scalar integers and booleans (counters, conditions) are computed by the program itself.
Every tensor that a net takes has a shape known here; a loop carries tensors whose shapes do not change.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

from . import cli
from .errors import UserError
from .tools.native import program_output

PROG = "control_flow"
CONTROL = ("If", "Loop", "Scan")

_TYPES = {
    TensorProto.FLOAT: "f32", TensorProto.FLOAT16: "f16", TensorProto.BFLOAT16: "bf16", TensorProto.DOUBLE: "f64", TensorProto.BOOL: "i1",
    TensorProto.INT8: "i8", TensorProto.INT16: "i16", TensorProto.INT32: "i32", TensorProto.INT64: "i64", TensorProto.UINT8: "ui8",
}  # fmt: skip
_INTEGERS = (TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL)
_BINARY = {"Add": "addi", "Sub": "subi", "Mul": "muli", "Div": "divsi", "And": "andi", "Or": "ori", "Xor": "xori"}
_COMPARE = {"Equal": "eq", "Less": "slt", "LessOrEqual": "sle", "Greater": "sgt", "GreaterOrEqual": "sge"}


@dataclass(frozen=True)
class Value:
    """A tensor of the program: its SSA name, ONNX element type, shape (-1: known at run time only)."""

    name: str
    kind: int
    shape: tuple[int, ...]

    @property
    def element(self) -> str:
        return _TYPES[self.kind]

    @property
    def type(self) -> str:
        return f"tensor<{''.join('?x' if size < 0 else f'{size}x' for size in self.shape)}{self.element}>"


@dataclass
class Scope:
    """Names that a graph sees: its own, then those of the graphs around it."""

    parent: Scope | None = None
    values: dict[str, Value] = field(default_factory=dict)
    weights: dict[str, TensorProto] = field(default_factory=dict)

    def value(self, name: str) -> Value | None:
        return self.values.get(name) or (None if name in self.weights or not self.parent else self.parent.value(name))

    def weight(self, name: str) -> TensorProto | None:
        if name in self.weights:
            return self.weights[name]
        return None if name in self.values or not self.parent else self.parent.weight(name)


def has_control_flow(graph: onnx.GraphProto) -> bool:
    return any(node.op_type in CONTROL for node in graph.node)


def _free_names(node: onnx.NodeProto) -> set[str]:
    """What a node reads: its inputs, and what its subgraphs take from outside."""
    names = {name for name in node.input if name}
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            own = {i.name for i in attribute.g.input} | {i.name for i in attribute.g.initializer}
            used = {o.name for o in attribute.g.output}
            for inner in attribute.g.node:
                used |= _free_names(inner)
                own |= set(inner.output)
            names |= used - own
    return names


def _constant(node: onnx.NodeProto) -> TensorProto:
    attribute = node.attribute[0]
    value = helper.get_attribute_value(attribute)
    if attribute.name == "value":
        return value
    if attribute.name in ("value_int", "value_ints"):
        return numpy_helper.from_array(np.asarray(value, np.int64))
    if attribute.name in ("value_float", "value_floats"):
        return numpy_helper.from_array(np.asarray(value, np.float32))
    raise UserError(f"Constant '{node.output[0]}': {attribute.name} is not supported")


def _label(node: onnx.NodeProto) -> str:
    return f"{node.op_type} '{node.name or node.output[0]}'"


class _Converter:
    def __init__(self, model: onnx.ModelProto, name: str):
        self.model, self.name = model, name
        self.lines: list[str] = []
        self.nets: list[onnx.ModelProto] = []
        self.count = 0

    # Text of the program.

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def emit(self, text: str) -> None:
        self.lines.append(text)

    def op(self, text: str) -> str:
        name = self.fresh()
        self.emit(f"{name} = {text}")
        return name

    def captured(self, write) -> tuple[object, list[str]]:
        """What `write` returns, and the lines it wrote."""
        saved, self.lines = self.lines, []
        try:
            return write(), self.lines
        finally:
            self.lines = saved

    def integer(self, number: int) -> str:
        return self.op(f"arith.constant {number} : i64")

    def scalar(self, value: Value) -> str:
        """The only element of a tensor."""
        zeros = ", ".join(self.integer(0) for _ in value.shape)
        indices = ", i64" * len(value.shape)
        return self.op(f"vm.load {value.name}[{zeros}] : ({value.type}{indices}) -> {value.element}")

    def tensor_of(self, scalar: str, kind: int, shape: tuple[int, ...] = ()) -> Value:
        value = Value(self.op(f"vm.new() : () -> {Value('', kind, shape).type}"), kind, shape)
        zeros = ", ".join(self.integer(0) for _ in shape)
        self.emit(f"vm.store {scalar}, {value.name}[{zeros}] : {value.element}, {value.type}{', i64' * len(shape)}")
        return value

    def cast(self, value: Value, shape: tuple[int, ...]) -> Value:
        if value.shape == shape:
            return value
        target = Value("", value.kind, shape)
        return Value(self.op(f"vm.cast {value.name} : {value.type} to {target.type}"), value.kind, shape)

    def read(self, name: str, scope: Scope, user: str) -> Value:
        """A tensor by its ONNX name; a weight becomes read-only data of the program."""
        value = scope.value(name)
        if value:
            return value
        weight = scope.weight(name)
        if weight is None:
            raise UserError(f"{user}: input '{name}' is not there")
        data = numpy_helper.to_array(weight)
        kind = weight.data_type
        target = Value("", kind, data.shape)
        if kind == TensorProto.BOOL:
            flat = ", ".join("true" if bit else "false" for bit in data.reshape(-1))
            text = f"dense<[{flat}]> : tensor<{data.size}xi1>"
            if not data.shape:
                text = f"dense<{flat}> : tensor<i1>"
            elif data.ndim > 1:
                raise UserError(f"{user}: boolean constant '{name}' has more than one dimension")
        else:
            text = f'dense<"0x{np.ascontiguousarray(data).tobytes().hex().upper()}"> : {target.type}'
        return Value(self.op(f"vm.rodata {text}"), kind, data.shape)

    # Graphs.

    def graph(self, graph: onnx.GraphProto, scope: Scope) -> list[Value]:
        """Writes a graph whose inputs are in `scope`; returns its outputs."""
        for weight in graph.initializer:
            scope.weights[weight.name] = weight
        pending: list[int] = []
        produced: set[str] = set()
        for index, node in enumerate(graph.node):
            if node.op_type == "Constant":
                scope.weights[node.output[0]] = _constant(node)
                continue
            if not (_free_names(node) & produced) and self.inline(node, scope):
                continue
            if node.op_type not in CONTROL:
                pending.append(index)
                produced |= set(node.output)
                continue
            self.net(pending, graph, index, scope)
            pending, produced = [], set()
            outputs = {"If": self.branch, "Loop": self.loop, "Scan": self.scan}[node.op_type](node, scope)
            for name, value in zip(node.output, outputs):
                if name:
                    scope.values[name] = value
        self.net(pending, graph, len(graph.node), scope)
        return [self.read(output.name, scope, f"graph '{graph.name}'") for output in graph.output]

    def inline(self, node: onnx.NodeProto, scope: Scope) -> bool:
        """Counters and conditions: integers and booleans of one element."""
        if node.op_type == "Identity":
            value, weight = scope.value(node.input[0]), scope.weight(node.input[0])
            if value:
                scope.values[node.output[0]] = value
            elif weight is not None:
                scope.weights[node.output[0]] = weight
            return True
        if node.op_type not in _BINARY and node.op_type not in _COMPARE and node.op_type not in ("Not", "Cast"):
            return False
        operands = []
        for name in node.input:
            value, weight = scope.value(name), scope.weight(name)
            kind, shape = (value.kind, value.shape) if value else (weight.data_type, tuple(weight.dims)) if weight is not None else (0, ())
            if kind not in _INTEGERS or any(size != 1 for size in shape):
                return False
            operands.append(shape)
        kind_out = helper.get_attribute_value(node.attribute[0]) if node.op_type == "Cast" else None
        if node.op_type == "Cast" and kind_out not in _INTEGERS:
            return False
        inputs = [self.read(name, scope, _label(node)) for name in node.input]
        if node.op_type in _BINARY and inputs[0].kind == TensorProto.BOOL and node.op_type not in ("And", "Or", "Xor"):
            return False
        scalars = [self.scalar(value) for value in inputs]
        element, kind = inputs[0].element, inputs[0].kind
        if node.op_type in _BINARY:
            result = self.op(f"arith.{_BINARY[node.op_type]} {scalars[0]}, {scalars[1]} : {element}")
        elif node.op_type in _COMPARE:
            result, kind = self.op(f"arith.cmpi {_COMPARE[node.op_type]}, {scalars[0]}, {scalars[1]} : {element}"), TensorProto.BOOL
        elif node.op_type == "Not":
            result = self.op(f"arith.xori {scalars[0]}, {self.op('arith.constant true')} : i1")
        elif kind_out == kind:
            result = scalars[0]
        elif kind_out == TensorProto.BOOL:
            zero = self.op(f"arith.constant 0 : {element}")
            result, kind = self.op(f"arith.cmpi ne, {scalars[0]}, {zero} : {element}"), kind_out
        else:
            how = "extui" if kind == TensorProto.BOOL else "extsi" if kind == TensorProto.INT32 else "trunci"
            result, kind = self.op(f"arith.{how} {scalars[0]} : {element} to {_TYPES[kind_out]}"), kind_out
        scope.values[node.output[0]] = self.tensor_of(result, kind, max(operands, key=len))
        return True

    def net(self, indices: list[int], graph: onnx.GraphProto, end: int, scope: Scope) -> None:
        """A call of the net that computes the nodes at `indices`, which come before `end`; what nobody else reads stays inside."""
        if not indices:
            return
        nodes = [graph.node[i] for i in indices]
        made = {name for node in nodes for name in node.output if name}
        later = {output.name for output in graph.output}
        for node in graph.node[end:]:
            later |= _free_names(node)
        outputs = [name for node in nodes for name in node.output if name in later]
        inputs: dict[str, Value] = {}
        weights: dict[str, TensorProto] = {}
        for node in nodes:
            for name in sorted(_free_names(node) - made):
                value, weight = scope.value(name), scope.weight(name)
                if value:
                    if min(value.shape, default=0) < 0:
                        raise UserError(f"{_label(node)}: '{name}' has an extent that is known at run time only")
                    inputs[name] = value
                elif weight is not None:
                    weights[name] = TensorProto()
                    weights[name].CopyFrom(weight)
                    weights[name].name = name
                else:
                    raise UserError(f"{_label(node)}: input '{name}' is not there")
        if not outputs:
            return
        infos = [helper.make_tensor_value_info(name, value.kind, value.shape) for name, value in inputs.items()]
        body = helper.make_graph(nodes, f"{self.name}_{len(self.nets)}", infos, [onnx.ValueInfoProto(name=name) for name in outputs], list(weights.values()))
        net = helper.make_model(body, opset_imports=self.model.opset_import, ir_version=self.model.ir_version)
        try:
            inferred = shape_inference.infer_shapes(net, strict_mode=True, data_prop=True)
        except Exception as error:  # onnx has a type of its own per failure
            raise UserError(f"shapes of the part that ends with {_label(nodes[-1])}: {str(error).splitlines()[0]}") from None
        results = []
        for info in inferred.graph.output:
            tensor = info.type.tensor_type
            shape = tuple(d.dim_value if d.HasField("dim_value") else -1 for d in tensor.shape.dim)
            if tensor.elem_type not in _TYPES or not tensor.HasField("shape") or min(shape, default=0) < 0:
                raise UserError(f"'{info.name}': its shape does not follow from the inputs' shapes")
            results.append((info.name, tensor.elem_type, shape))
        del net.graph.output[:]
        net.graph.output.extend(inferred.graph.output)
        callee = body.name
        types = [Value("", kind, shape).type for _, kind, shape in results]
        name = self.fresh()
        target = f"{name}:{len(results)}" if len(results) > 1 else name
        self.emit(f"{target} = vm.call @device.{callee}({', '.join(v.name for v in inputs.values())}) : "
                  f"({', '.join(v.type for v in inputs.values())}) -> ({', '.join(types)})")  # fmt: skip
        for i, (result, kind, shape) in enumerate(results):
            scope.values[result] = Value(f"{name}#{i}" if len(results) > 1 else name, kind, shape)
        self.nets.append(net)

    # Control flow.

    def subgraph(self, node: onnx.NodeProto, name: str) -> onnx.GraphProto:
        return next(attribute.g for attribute in node.attribute if attribute.name == name)

    def results(self, name: str, values: list[Value]) -> list[Value]:
        single = len(values) == 1
        return [Value(name if single else f"{name}#{i}", value.kind, value.shape) for i, value in enumerate(values)]

    def branch(self, node: onnx.NodeProto, scope: Scope) -> list[Value]:
        condition = self.scalar(self.read(node.input[0], scope, _label(node)))
        graphs = [self.subgraph(node, "then_branch"), self.subgraph(node, "else_branch")]
        written = [self.captured(lambda graph=graph: self.graph(graph, Scope(scope))) for graph in graphs]
        merged = []
        for then, other in zip(written[0][0], written[1][0]):
            if then.kind != other.kind or len(then.shape) != len(other.shape):
                raise UserError(f"{_label(node)}: its branches give tensors of different type or rank")
            merged.append(Value("", then.kind, tuple(a if a == b else -1 for a, b in zip(then.shape, other.shape))))
        types = ", ".join(value.type for value in merged)
        name = self.fresh()
        self.emit(f"{name}{f':{len(merged)}' if len(merged) > 1 else ''} = scf.if {condition} -> ({types}) {{")
        for index, (values, lines) in enumerate(written):
            self.lines += lines
            cast = [self.cast(value, target.shape) for value, target in zip(values, merged)]
            self.emit(f"scf.yield {', '.join(value.name for value in cast)} : {types}")
            self.emit("} else {" if index == 0 else "}")
        return self.results(name, merged)

    def body_outputs(self, node, outputs, carried) -> None:
        for value, before in zip(outputs, carried):
            if value.kind != before.kind or value.shape != before.shape:
                raise UserError(f"{_label(node)}: it carries a {before.type} into a trip and a {value.type} out of it; a carried tensor keeps its shape")

    def collect(self, rows: list[Value]) -> list[Value]:
        """Empty tensors that the rows will be appended to."""
        zero = self.integer(0)
        tensors = [Value("", row.kind, (-1, *row.shape)) for row in rows]
        return [Value(self.op(f"vm.new({zero}) : (i64) -> {t.type}"), t.kind, t.shape) for t in tensors]

    def append(self, tensors: list[Value], rows: list[Value]) -> list[str]:
        return [self.op(f"vm.call @host.append({t.name}, {r.name}) : ({t.type}, {r.type}) -> {t.type}") for t, r in zip(tensors, rows)]

    def loop(self, node: onnx.NodeProto, scope: Scope) -> list[Value]:
        body = self.subgraph(node, "body")
        names = list(node.input) + [""] * (2 - len(node.input))
        limit = scope.weight(names[0]) if names[0] else None
        trips = self.scalar(self.read(names[0], scope, _label(node))) if names[0] else self.integer(2**63 - 1)
        first = self.scalar(self.read(names[1], scope, _label(node))) if names[1] else self.op("arith.constant true")
        carried = [self.read(name, scope, _label(node)) for name in names[2:]]
        inner = Scope(scope)
        index, go = self.fresh(), self.fresh()
        arguments = [Value(self.fresh(), value.kind, value.shape) for value in carried]

        def write():
            inner.values[body.input[0].name] = self.tensor_of(index, TensorProto.INT64)
            inner.values[body.input[1].name] = self.tensor_of(go, TensorProto.BOOL)
            for info, value in zip(body.input[2:], arguments):
                inner.values[info.name] = value
            before = inner.values[body.input[1].name]
            outputs = self.graph(body, inner)
            return outputs, self.scalar(outputs[0]), outputs[0] is before or _is_true(inner.weight(body.output[0].name))

        (outputs, again, runs_on), lines = self.captured(write)
        self.body_outputs(node, outputs[1:], carried)
        rows = outputs[1 + len(carried) :]
        collected = self.collect(rows)
        tensors = [Value(self.fresh(), value.kind, value.shape) for value in collected]
        types = ", ".join(["i64", "i1", *(value.type for value in carried + collected)])
        initial = [self.integer(0), first, *(value.name for value in carried + collected)]
        inside = [self.fresh() for _ in initial]
        starts = ", ".join(f"{a} = {b}" for a, b in zip(inside, initial))
        name = self.fresh()
        self.emit(f"{name}:{len(initial)} = scf.while ({starts}) : ({types}) -> ({types}) {{")
        more = self.op(f"arith.cmpi slt, {inside[0]}, {trips} : i64")
        both = self.op(f"arith.andi {more}, {inside[1]} : i1")
        self.emit(f"scf.condition({both}) {', '.join(inside)} : {types}")
        self.emit("} do {")
        block = [f"{index}: i64", f"{go}: i1", *(f"{value.name}: {value.type}" for value in arguments + tensors)]
        self.emit(f"^bb0({', '.join(block)}):")
        self.lines += lines
        following = self.op(f"arith.addi {index}, {self.integer(1)} : i64")
        stacked = self.append(tensors, rows)
        self.emit(f"scf.yield {', '.join([following, again, *(value.name for value in outputs[1 : 1 + len(carried)]), *stacked])} : {types}")
        self.emit("}")
        results = [Value(f"{name}#{i + 2}", value.kind, value.shape) for i, value in enumerate(carried + collected)]
        # A loop whose condition never changes runs as often as it says.
        is_counted = limit is not None and runs_on and (not names[1] or _is_true(scope.weight(names[1])))
        if is_counted:
            count = int(numpy_helper.to_array(limit).reshape(()))
            results = [self.cast(value, (count, *value.shape[1:])) if i >= len(carried) else value for i, value in enumerate(results)]
        return results

    def scan(self, node: onnx.NodeProto, scope: Scope) -> list[Value]:
        body = self.subgraph(node, "body")
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        for name, values in attributes.items():
            if name.startswith("scan_") and any(values):
                raise UserError(f"{_label(node)}: {name} = {list(values)}; only scans forwards along axis 0 are supported")
        states = len(node.input) - attributes["num_scan_inputs"]
        values = [self.read(name, scope, _label(node)) for name in node.input]
        carried, scanned = values[:states], values[states:]
        length = scanned[0].shape[0]
        count = self.op(f"vm.dim {scanned[0].name}, 0 : {scanned[0].type} -> i64")
        inner = Scope(scope)
        index = self.fresh()
        arguments = [Value(self.fresh(), value.kind, value.shape) for value in carried]

        def write():
            for info, value in zip(body.input, arguments):
                inner.values[info.name] = value
            for info, value in zip(body.input[states:], scanned):
                row = Value("", value.kind, value.shape[1:])
                call = self.op(f"vm.call @host.row({value.name}, {index}) : ({value.type}, i64) -> {row.type}")
                inner.values[info.name] = Value(call, row.kind, row.shape)
            return self.graph(body, inner)

        outputs, lines = self.captured(write)
        self.body_outputs(node, outputs, carried)
        rows = outputs[states:]
        collected = self.collect(rows)
        tensors = [Value(self.fresh(), value.kind, value.shape) for value in collected]
        types = ", ".join(value.type for value in carried + collected)
        pairs = ", ".join(f"{a.name} = {b.name}" for a, b in zip(arguments + tensors, carried + collected))
        zero, one, name = self.integer(0), self.integer(1), self.fresh()
        total = len(carried) + len(collected)
        self.emit(f"{name}{f':{total}' if total > 1 else ''} = scf.for {index} = {zero} to {count} step {one} iter_args({pairs}) -> ({types}) : i64 {{")
        self.lines += lines
        stacked = self.append(tensors, rows)
        self.emit(f"scf.yield {', '.join([*(value.name for value in outputs[:states]), *stacked])} : {types}")
        self.emit("}")
        results = self.results(name, carried + collected)
        return [self.cast(value, (length, *value.shape[1:])) if i >= states else value for i, value in enumerate(results)]


def _is_true(weight: TensorProto | None) -> bool:
    return weight is not None and bool(np.all(numpy_helper.to_array(weight)))


def _function(model: onnx.ModelProto, name: str, entry: str, shapes: list[list[int]] | None):
    """One function for one set of input shapes: its lines, its nets, its parameters and results."""
    converter = _Converter(model, name)
    scope = Scope()
    weights = {weight.name for weight in model.graph.initializer}
    inputs = [info for info in model.graph.input if info.name not in weights]
    if shapes is not None and len(shapes) != len(inputs):
        raise UserError(f"--input_shapes: expects {len(inputs)} shapes, got {len(shapes)}")
    for i, info in enumerate(inputs):
        tensor = info.type.tensor_type
        shape = tuple(shapes[i]) if shapes else tuple(d.dim_value if d.HasField("dim_value") else -1 for d in tensor.shape.dim)
        if tensor.elem_type not in _TYPES or min(shape, default=0) < 0:
            raise UserError(f"input '{info.name}': its shape is not known; give it with --input_shapes")
        scope.values[info.name] = Value(f"%arg{i}", tensor.elem_type, shape)
    parameters = [scope.values[info.name] for info in inputs]
    outputs = converter.graph(model.graph, scope)
    types = ", ".join(value.type for value in outputs)
    text = [f"func.func @{entry}({', '.join(f'{value.name}: {value.type}' for value in parameters)}) -> ({types}) {{", *converter.lines,
            f"return {', '.join(value.name for value in outputs)} : {types}", "}"]  # fmt: skip
    return text, converter.nets, parameters, outputs


def _merged(lists: list[list[Value]]) -> list[Value]:
    """Values with the extents that all sets of shapes agree on."""
    merged = []
    for values in zip(*lists):
        if len({(value.kind, len(value.shape)) for value in values}) > 1:
            raise UserError("the sets of --input_shapes give tensors of different rank or type")
        merged.append(Value(values[0].name, values[0].kind, tuple(sizes[0] if len(set(sizes)) == 1 else -1 for sizes in zip(*(v.shape for v in values)))))
    return merged


def _dispatch(functions: list[tuple[list[Value], list[Value]]]) -> list[str]:
    """@main, which looks at the sizes of its inputs and calls the function that was compiled for them."""
    parameters = _merged([inputs for inputs, _ in functions])
    results = _merged([outputs for _, outputs in functions])
    types = ", ".join(value.type for value in results)
    writer = _Converter(onnx.ModelProto(), "")

    def choose(index: int) -> list[str]:
        if index == len(functions):
            writer.emit(f'vm.assert {writer.op("arith.constant false")}, "the model was not compiled for inputs of these shapes"')
            zero = writer.integer(0)
            return [writer.op(f"vm.new({', '.join([zero] * v.shape.count(-1))}) : ({', '.join(['i64'] * v.shape.count(-1))}) -> {v.type}") for v in results]
        inputs, outputs = functions[index]
        fits = writer.op("arith.constant true")
        for value, given in zip(inputs, parameters):
            for d, size in enumerate(given.shape):
                if size < 0:
                    extent = writer.op(f"vm.dim {given.name}, {d} : {given.type} -> i64")
                    same = writer.op(f"arith.cmpi eq, {extent}, {writer.integer(value.shape[d])} : i64")
                    fits = writer.op(f"arith.andi {fits}, {same} : i1")
        name = writer.fresh()
        writer.emit(f"{name}{f':{len(results)}' if len(results) > 1 else ''} = scf.if {fits} -> ({types}) {{")
        arguments = [writer.cast(given, value.shape).name for given, value in zip(parameters, inputs)]
        call = writer.fresh()
        writer.emit(f"{call}{f':{len(outputs)}' if len(outputs) > 1 else ''} = func.call @main_{index}({', '.join(arguments)}) : "
                    f"({', '.join(v.type for v in inputs)}) -> ({', '.join(v.type for v in outputs)})")  # fmt: skip
        cast = [writer.cast(value, target.shape).name for value, target in zip(writer.results(call, outputs), results)]
        writer.emit(f"scf.yield {', '.join(cast)} : {types}")
        writer.emit("} else {")
        writer.emit(f"scf.yield {', '.join(choose(index + 1))} : {types}")
        writer.emit("}")
        return [value.name for value in writer.results(name, results)]

    chosen = choose(0)
    return [f"func.func @main({', '.join(f'{value.name}: {value.type}' for value in parameters)}) -> ({types}) {{", *writer.lines,
            f"return {', '.join(chosen)} : {types}", "}"]  # fmt: skip


def convert(model: onnx.ModelProto, name: str, input_shapes: list[list[list[int]]] | None = None) -> tuple[str, list[onnx.ModelProto]]:
    """The program as MLIR (func, scf, arith, vm) and the nets that it calls, named <name>_0, <name>_1, ..

    `input_shapes` are sets of shapes, one per input; with several sets the program chooses by the sizes of its inputs when it runs.
    """
    sets = input_shapes or [None]
    if len(sets) == 1:
        lines, nets, _, _ = _function(model, name, "main", sets[0])
        return "\n".join(lines) + "\n", nets
    functions = [_function(model, f"{name}_s{i}", f"main_{i}", shapes) for i, shapes in enumerate(sets)]
    lines = _dispatch([(parameters, outputs) for _, _, parameters, outputs in functions])
    for text, _, _, _ in functions:
        lines += text
    return "\n".join(lines) + "\n", [net for _, nets, _, _ in functions for net in nets]


def compile_model(model_def: str, model: str, quantize: str = "F32", processor: str = "a3", num_core: int = 1,
                  input_shapes: list[list[list[int]]] | None = None) -> dict:  # fmt: skip
    """ONNX -> .pmodel, in one step, for one or several sets of input shapes (`convert`). Returns the number of nets and the program's
    text. Raises UserError."""
    from . import compiler

    try:
        source = onnx.load(model_def)
    except Exception as error:  # protobuf's exceptions have no common base class with onnx's
        raise UserError(f"{model_def}: not a readable ONNX model: {str(error).splitlines()[0]}") from None
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in Path(model).stem)
    mlir, nets = convert(source, name, input_shapes)
    if not nets:
        raise UserError(f"{model_def}: it has nothing for the engines to compute")
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for net in nets:
            stem = str(Path(folder) / net.graph.name)
            onnx.save(net, stem + ".onnx")
            compiler.transform(stem + ".onnx", net.graph.name, None, [], stem + ".mlir", "")
            compiler.deploy(stem + ".mlir", stem + ".pmodel", quantize, processor, num_core, False)
            parts.append(stem + ".pmodel")
        arguments = ["--vm-to-bytecode", "-", "--target", processor, "--reuse-slots", "--passes", "convert-scf-to-vm,convert-arith-to-vm"]
        program = program_output("pto-opt", arguments, mlir)
        text = Path(folder) / f"{name}.vm"
        text.write_text(program)
        weights = {weight.name for weight in source.graph.initializer}
        names = [f"--program-input={info.name}" for info in source.graph.input if info.name not in weights]
        names += [f"--program-output={info.name}" for info in source.graph.output]
        program_output("pmodel_tool", ["--combine", *parts, "-o", model, "--program", str(text), *names])
    return {"nets": len(nets), "program": program}


def run(argv) -> int:
    p = cli.Parser(PROG, "Compiles an ONNX model with If, Loop or Scan to a .pmodel.")
    p.add_argument("--model_def", required=True, help="the .onnx file")
    p.add_argument("--model", required=True, help="output, ends in .pmodel")
    p.add_argument("--quantize", choices=["BF16", "F16", "F32"], default="F32", type=str.upper, help="storage type of the nets")
    p.add_argument("--processor", choices=["a3"], default="a3")
    p.add_argument("--num_core", type=int, default=1, help="blocks (1 cube core and 2 vector cores each), 1..24")
    p.add_argument("--input_shapes", action="append",
                   help="shapes of the inputs, such as [[1,3,224,224]]; the model's own when absent. Given again: another set of shapes, the program chooses")  # fmt: skip
    p.add_argument("--print_program", action="store_true", help="show the VM program")
    args = p.parse_args(argv)
    if not args.model.endswith(".pmodel"):
        raise UserError(f"--model: expects a name that ends in .pmodel, got {args.model}")
    cli.existing(args.model_def, "--model_def")
    shapes = [cli.shapes(text) for text in args.input_shapes] if args.input_shapes else None
    summary = compile_model(args.model_def, args.model, args.quantize, args.processor, args.num_core, shapes)
    print(f"{PROG}: {args.model_def} -> {args.model}: {summary['nets']} nets")
    if args.print_program:
        print(summary["program"], end="")
    return 0


def main(argv=None) -> int:
    return cli.run(PROG, run, argv)


if __name__ == "__main__":
    sys.exit(main())

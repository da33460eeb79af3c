"""What the nodes of a graph compute in float64, and how far a computation in narrower types may be from it.

Every value has an array (float64 for all floats) and a greatest error. A node is evaluated at its inputs and at inputs
moved by SAFETY times their errors, and two roundings more where it computes; what that moves the outputs by, divided by
SAFETY, is their error. Where an output jumps, the inputs are too near a discontinuity, or the graph is ill-conditioned:
`Unusable`.
"""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from .model import FLOATS, Graph, attribute, numpy_type, reads
from .operators import NEW_OPS, rounded_inside
from .references import SAFETY, differs, onnxruntime_outputs

LARGEST = 2e4  # below the greatest f16, sums of a few included
SHARE = 0.05  # an error beyond this share of the greatest value: ill-conditioned
ROUNDING = {TensorProto.FLOAT16: 2.0**-11, TensorProto.BFLOAT16: 2.0**-8, TensorProto.DOUBLE: 2.0**-44}
STORED = {"F32": (2.0**-24, 1e-37), "F16": (2.0**-11, 2.0**-24)}
# Copy, choose or compare: no error of their own.
EXACT = set(
    """Abs ArgMax ArgMin BitCast Ceil CenterCropPad Clip Compress Concat Constant ConstantOfShape DepthToSpace Dropout
    Equal Expand EyeLike Flatten Floor Gather GatherElements GatherND Greater GreaterOrEqual Hardmax Identity IsInf
    IsNaN Less LessOrEqual Max MaxPool Min Neg NonZero OneHot Pad ReduceMax ReduceMin Relu Reshape ReverseSequence Round
    ScatterElements ScatterND Shape Sign Size Slice SpaceToDepth Split Squeeze ThresholdedRelu Tile TopK Transpose Trilu
    Unique Unsqueeze Where GlobalMaxPool TensorScatter Scatter Range Loop If""".split()
)
ROUNDED = {"Add", "Sub", "Mul", "Sum", "Cast", "CastLike", "ReduceSum", "CumSum"}  # the exact result rounded
ORDERED = {"TopK": 0, "ArgMax": 0, "ArgMin": 0, "Hardmax": 0, "Unique": 0}  # compare elements with each other
PARAMETERS = {"Resize": 1, "Dropout": 1}  # the operands from here on are no data: they are not moved
INNER = {"RNN", "GRU", "LSTM"}  # gates of up to 1 inside, whatever comes out
COMPARED = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}  # two operands, element by element
STEPS = {"Round", "Floor", "Ceil", "Sign", "Hardmax"}  # floats that jump


class Unusable(Exception):
    """The node does not fit: not finite, near a discontinuity, ill-conditioned, or not valid."""


@dataclass
class Value:
    array: np.ndarray
    error: np.ndarray | float = 0.0


def given(array: np.ndarray, kind: int, mode: str) -> Value:
    """A graph's input or weight."""
    wide = array.astype(np.float64) if kind in FLOATS else array
    return Value(wide, own_error(wide, kind, mode, 1))


def own_error(array: np.ndarray, kind: int, mode: str, roundings: float) -> np.ndarray | float:
    """The error of rounding to the type that stores `kind` in a mode; none where it holds every value."""
    if kind not in FLOATS:
        return 0.0
    unit, least = STORED[mode] if kind == TensorProto.FLOAT else (ROUNDING[kind], 2.0**-24)
    held = np.float16 if kind == TensorProto.FLOAT and mode == "F16" else FLOATS[kind]
    with np.errstate(over="ignore"):
        if roundings == 1 and np.array_equal(array.astype(held).astype(np.float64), array):
            return 0.0
    return roundings * (unit * np.abs(array) + least)


def unit_of(kinds, mode: str) -> float:
    return max((STORED[mode][0] if k == TensorProto.FLOAT else ROUNDING[k] for k in kinds if k in FLOATS), default=0.0)


def _wide(tensor: TensorProto) -> None:
    if tensor.data_type in FLOATS:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))


def _widen(node: onnx.NodeProto) -> onnx.NodeProto:
    """A copy that computes in float64."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    for a in copy.attribute:
        if a.type == onnx.AttributeProto.TENSOR:
            _wide(a.t)
        elif a.type == onnx.AttributeProto.GRAPH:
            inner = [_widen(n) for n in a.g.node]
            del a.g.node[:]
            a.g.node.extend(inner)
            for t in a.g.initializer:
                _wide(t)
            for info in [*a.g.input, *a.g.output]:
                if info.type.tensor_type.elem_type in FLOATS:
                    info.type.tensor_type.elem_type = TensorProto.DOUBLE
        elif a.name in ("to", "dtype", "output_dtype", "stash_type", "softmax_precision") and a.i in FLOATS:
            a.i = TensorProto.DOUBLE
    return copy


class Evaluator:
    """One node in float64."""

    def __init__(self, node: onnx.NodeProto, values: dict[str, Value], outside: list[str], opset: int):
        names = list(dict.fromkeys([name for name in node.input if name] + outside))
        kinds = [helper.np_dtype_to_tensor_dtype(values[name].array.dtype) for name in names]
        infos = [helper.make_tensor_value_info(n, k, values[n].array.shape) for n, k in zip(names, kinds, strict=True)]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([_widen(node)], "g", infos, outputs)
        imports = [helper.make_opsetid("", opset)]
        model = helper.make_model(graph, opset_imports=imports)
        self.names = names
        try:
            self.run_with = ReferenceEvaluator(model, new_ops=NEW_OPS)
        except Exception as error:
            raise Unusable(f"the reference: {type(error).__name__}: {error}") from error

    def __call__(self, arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return [np.asarray(v) for v in self.run_with.run(None, arrays)]
            except Exception as error:
                raise Unusable(f"the reference: {type(error).__name__}: {error}") from error


def _is_exact(node: onnx.NodeProto) -> bool:
    """Whether it only copies, chooses or compares; a scatter that adds or multiplies computes."""
    return node.op_type in EXACT and attribute(node, "reduction") not in (b"add", b"mul")


def step(graph: Graph, node: onnx.NodeProto, values: dict[str, Value], mode: str, types=None) -> dict[str, Value]:
    """The outputs of one node; their types are in graph.kinds, and what ONNX infers in `types`."""
    evaluate = Evaluator(node, values, reads(node), graph.opset)
    if (
        node.op_type == "ReduceMean"
        and graph.kinds[node.input[0]] not in FLOATS
        and not values[node.input[0]].array.size
    ):
        raise Unusable("a mean of no integers is not defined")
    arrays = {name: values[name].array for name in evaluate.names}
    results = evaluate(arrays)
    names = [name for name in node.output if name]
    for name, array in zip(names, results, strict=True):
        _same_shape(name, array, types.get(name) if types else None)
        _usable(name, array, graph.kinds[name])
    is_exact, is_rounded = _is_exact(node), node.op_type in ROUNDED
    parameters = set(node.input[PARAMETERS.get(node.op_type, len(node.input)) :])
    moves = {}
    for name in arrays.keys() - parameters if parameters else arrays:
        unit = 0.0 if is_exact or is_rounded else 2 * unit_of([graph.kinds[name]], mode)
        if np.any(move := _moves(values[name], unit)):
            moves[name] = move
    if node.op_type in ORDERED and node.input[0] in moves:
        _apart(arrays[node.input[0]], moves[node.input[0]], node)
    if node.op_type in COMPARED and node.input[0] != node.input[1]:
        _unequal(*(arrays[name] for name in node.input), sum(moves.get(name, 0.0) for name in node.input))
    spreads = _spread(evaluate, arrays, moves, results, node)
    made = {}
    for name, array, spread in zip(names, results, spreads, strict=True):
        error: np.ndarray | float = spread
        if graph.kinds[name] in FLOATS and not (is_exact and not np.any(spread)):
            unit = unit_of([graph.kinds[n] for n in arrays] + [graph.kinds[name]], mode)
            own = own_error(array, graph.kinds[name], mode, 1 if is_exact or is_rounded else 8)
            size = np.max(np.abs(array), initial=1 if node.op_type in INNER else 0)
            error = error + own + (0 if is_exact or is_rounded else unit * size)
            if name == names[0]:
                error = error + rounded_inside(node, [arrays.get(n) for n in node.input], graph.opset, unit)
            if np.max(error, initial=0) > SHARE * max(np.max(np.abs(array), initial=0), 1e-2):
                raise Unusable(f"{name}: ill-conditioned")
        made[name] = Value(array, error)
    if types is not None:
        _agree(graph, node, values, made)
    return made


def _agree(graph: Graph, node: onnx.NodeProto, values: dict[str, Value], made: dict[str, Value]) -> None:
    """The reference evaluator has faults: where onnxruntime has the operator, in its own types or with all floats in
    f32, it has to agree."""
    for narrow in (lambda kind: kind, lambda kind: TensorProto.FLOAT if kind in FLOATS else kind):
        kinds = {name: narrow(graph.kinds[name]) for name in [*reads(node), *filter(None, node.output)]}
        given = {name: values[name].array.astype(numpy_type(kinds[name])) for name in reads(node)}
        if any(array.dtype.isbuiltin != 1 for array in given.values()):
            continue
        alone = Graph([node], {}, given, [name for name in node.output if name], kinds, graph.opset)
        theirs = onnxruntime_outputs(alone)
        if isinstance(theirs, dict):
            for name, value in made.items():
                if differs(theirs[name], value.array, value.error + 1e-5 * np.max(np.abs(value.array), initial=0)):
                    raise Unusable(f"{name}: onnxruntime and onnx's reference differ")
            return


def _moves(value: Value, unit: float) -> np.ndarray | float:
    return value.error + unit * np.abs(value.array) if value.array.dtype == np.float64 else 0.0


def _usable(name: str, array: np.ndarray, kind: int) -> None:
    if array.ndim > 6 or array.size > 20_000:
        raise Unusable(f"{name}: too large")
    if kind in FLOATS:
        if array.dtype != np.float64 or not np.all(np.isfinite(array)) or np.max(np.abs(array), initial=0) > LARGEST:
            raise Unusable(f"{name}: not finite or too large")


def _same_shape(name: str, array: np.ndarray, inferred: onnx.TypeProto | None) -> None:
    """The reference evaluator has faults: its shape is that of ONNX's inference."""
    if inferred is None or not inferred.tensor_type.HasField("shape"):
        return
    dims = inferred.tensor_type.shape.dim
    if len(dims) != array.ndim or any(d.HasField("dim_value") and d.dim_value != n for d, n in zip(dims, array.shape)):
        raise Unusable(f"{name}: the reference's shape is not the inferred one")


def _apart(array: np.ndarray, move: np.ndarray | float, node: onnx.NodeProto) -> None:
    """Elements that are compared with each other must differ by more than their errors."""
    axis = attribute(node, "axis", -1 if node.op_type in ("TopK", "Hardmax") else 0)
    if node.op_type == "Unique":
        array, move, axis = array.reshape(-1), np.max(move), 0
    gaps = np.diff(np.sort(array, axis), axis=axis) if array.ndim else np.ones(1)
    if np.min(gaps, initial=np.inf) <= 2 * SAFETY * np.max(move):
        raise Unusable("elements are too near to each other")


def _unequal(a: np.ndarray, b: np.ndarray, move: np.ndarray | float) -> None:
    """Elements that are not exact must differ by more than their errors: moved, equal ones stay unlike."""
    if np.any((move > 0) & (np.abs(a.astype(np.float64) - b.astype(np.float64)) <= SAFETY * move)):
        raise Unusable("near a discontinuity")


def _spread(evaluate: Evaluator, arrays, moves, results, node) -> list[np.ndarray | float]:
    """How far the outputs move, elementwise, but at least their mean move."""
    spreads: list[np.ndarray | float] = [0.0 for _ in results]
    if not moves:
        return spreads
    rng = np.random.default_rng(5)
    for turn in range(4):
        moved = dict(arrays)
        for i, (name, move) in enumerate(moves.items()):
            sign = (
                (1.0, -1.0)[(turn + i * (turn // 2)) % 2] if turn < 3 else rng.choice([-1.0, 1.0], arrays[name].shape)
            )
            moved[name] = arrays[name] + SAFETY * sign * move
        for k, (now, before) in enumerate(zip(evaluate(moved), results, strict=True)):
            if now.shape != before.shape or (before.dtype != np.float64 and not np.array_equal(now, before)):
                raise Unusable("near a discontinuity")
            if before.dtype == np.float64:
                if node.op_type in STEPS and not np.array_equal(now, before):
                    raise Unusable("near a discontinuity")
                away = np.abs(now - before) / SAFETY
                if not np.all(np.isfinite(away)):
                    raise Unusable("near the end of its domain")
                spreads[k] = np.maximum(spreads[k], np.maximum(away, np.sqrt(np.mean(away**2)) if away.size else 0))
    return spreads


def trace(graph: Graph, mode: str) -> dict[str, Value]:
    """Every value of a graph."""
    values = {name: given(array, graph.kinds[name], mode) for name, array in graph.given().items()}
    for node in graph.nodes:
        values |= step(graph, node, values, mode)
    return values


@functools.cache
def schema_of(op: str, opset: int, domain: str = "") -> onnx.defs.OpSchema:
    return onnx.defs.get_schema(op, opset, domain)


def infer_types(graph: Graph, node: onnx.NodeProto, values: dict[str, Value]) -> dict[str, onnx.TypeProto]:
    """The types of a node's outputs; Unusable where ONNX refuses it."""
    types, data = {}, {}
    for name in filter(None, node.input):
        types[name] = helper.make_tensor_type_proto(graph.kinds[name], values[name].array.shape)
        if name in graph.weights and graph.weights[name].size <= 64:
            data[name] = numpy_helper.from_array(graph.weights[name], name)
    try:
        schema = schema_of(node.op_type, graph.opset, node.domain)
        made = onnx.shape_inference.infer_node_outputs(
            schema, node, types, data, opset_imports=[helper.make_opsetid("", graph.opset)]
        )
    except Exception as error:
        raise Unusable(f"not valid: {error}") from error
    return made

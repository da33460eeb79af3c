"""What recipes draw from: existing values of a type and rank, new ones, extents, and the nodes they make."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

from .exact import Unusable, Value, given, infer_types, schema_of, step
from .model import FLOATS, INTEGERS, KINDS, NARROW, Graph, numpy_type

MODE = "F16"  # graphs that are far enough from discontinuities for F16 are for F32, too
MOST = 600  # elements of a new value
EXTENTS = (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 31, 33, 40)
WEIGHT_OF = {TensorProto.FLOAT: 20, TensorProto.FLOAT16: 3, TensorProto.BFLOAT16: 2, TensorProto.DOUBLE: 2} | {
    kind: 1 for kind in INTEGERS
}
WEIGHT_OF |= {TensorProto.INT32: 3, TensorProto.INT64: 3, TensorProto.BOOL: 2} | {kind: 0.2 for kind in NARROW}


class Draw:
    """A graph that grows, with the values of everything in it."""

    def __init__(self, rng: np.random.Generator, opset: int, has_empty: bool):
        self.rng, self.graph = rng, Graph(opset=opset)
        self.values: dict[str, Value] = {}
        self.final: set[str] = set()  # nothing reads these: their shapes follow from values
        self.has_empty = has_empty
        self.refused: dict[str, str] = {}  # by operator: why the last attempt was no node
        self._names = 0

    # numbers

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def one(self, choices: Sequence):
        return choices[int(self.rng.integers(len(choices)))]

    def extent(self, most: int = 40) -> int:
        if self.has_empty and self.chance(0.15):
            return 0
        return int(self.one([e for e in EXTENTS if e <= max(1, most)]))

    def shape(self, rank: int, most: int = MOST) -> list[int]:
        shape: list[int] = []
        for i in range(rank):
            left = most // max(1, int(np.prod([max(1, n) for n in shape])))
            shape.append(self.extent(max(1, int(left ** (0.5 if i + 1 < rank else 1)))))
        return [int(n) for n in self.rng.permutation(shape)]

    def rank(self, least: int = 0, most: int = 6) -> int:
        weights = np.array([1, 2, 3, 3, 3, 1, 1][least : most + 1], float)
        return least + int(self.rng.choice(len(weights), p=weights / weights.sum()))

    # types

    def kinds(self, op: str, place: int = 0, domain: str = "") -> list[int]:
        """What a node's operand may be, of the types that are drawn."""
        schema = schema_of(op, self.graph.opset, domain)
        formal = schema.inputs[min(place, len(schema.inputs) - 1)]
        allowed = set(formal.types)
        names = {kind: f"tensor({TensorProto.DataType.Name(kind).lower()})" for kind in KINDS}
        return [kind for kind, name in names.items() if name in allowed]

    # values

    def name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def array(self, kind: int, shape, low: float = -4, high: float = 4) -> np.ndarray:
        """Numbers that bf16 holds, mostly distinct."""
        if kind in FLOATS:
            scale = self.one([16, 16, 8, 2])
            drawn = self.rng.integers(int(np.ceil(low * scale)), int(np.floor(high * scale)) + 1, shape) / scale
            return np.asarray(drawn).astype(numpy_type(kind))
        if kind == TensorProto.BOOL:
            return np.asarray(self.rng.random(shape) < 0.5)
        dtype = numpy_type(kind)
        least = 0 if dtype.name.startswith("uint") else max(int(low), -2 if "int2" in dtype.name else -8)
        most = min(int(high), 1 if dtype.name == "int2" else 3 if dtype.name == "uint2" else 7)
        return np.asarray(self.rng.integers(least, max(least, most) + 1, shape)).astype(dtype)

    def new(self, kind: int, shape, low: float = -4, high: float = 4, weight: float = 0.4) -> str:
        return self.put(self.array(kind, list(shape), low, high), kind, self.chance(weight))

    def put(self, array: np.ndarray, kind: int | None = None, is_weight: bool = True) -> str:
        """A weight, or an input, of given values."""
        array = np.asarray(array)
        kind = helper.np_dtype_to_tensor_dtype(array.dtype) if kind is None else kind
        name = self.name("w" if is_weight else "x")
        (self.graph.weights if is_weight else self.graph.inputs)[name] = array
        self.graph.kinds[name] = kind
        self.values[name] = given(array, kind, MODE)
        return name

    def ints(self, *numbers: int) -> str:
        return self.put(np.array(numbers, np.int64))

    def shape_of(self, name: str) -> tuple[int, ...]:
        return self.values[name].array.shape

    def kind_of(self, name: str) -> int:
        return self.graph.kinds[name]

    def find(self, accept: Callable[[str], bool]) -> str | None:
        names = [name for name in self.values if name not in self.final and accept(name)]
        if not names:
            return None
        recent = names[-6:] if self.chance(0.6) else names
        return self.one(recent)

    def kind(self, kinds: Sequence[int]) -> int:
        weights = np.array([WEIGHT_OF.get(kind, 0.2) for kind in kinds], float)
        return int(self.rng.choice(list(kinds), p=weights / weights.sum()))

    def pick(self, kinds: Sequence[int], least: int = 0, most: int = 6, fresh: float = 0.25, **bounds) -> str:
        """An existing value of one of the types and a rank within bounds, or a new one."""
        if not kinds:
            raise Unusable("no type")
        if not self.chance(fresh):
            kind = self.kind(kinds)
            wanted = [kind] if self.chance(0.7) else kinds
            fits = lambda n: self.kind_of(n) in wanted and least <= len(self.shape_of(n)) <= most
            if found := self.find(fits):
                return found
        return self.new(self.kind(kinds), self.shape(self.rank(least, most)), **bounds)

    def like(self, name: str, kind: int | None = None, **bounds) -> str:
        """An operand that broadcasts with `name`, of its type or of `kind`."""
        kind = self.kind_of(name) if kind is None else kind
        shape = self.shape_of(name)
        if self.chance(0.6):
            found = self.find(lambda n: self.kind_of(n) == kind and _broadcasts(shape, self.shape_of(n)))
            if found:
                return found
        kept = [1 if self.chance(0.25) else n for n in shape]
        if kept and self.chance(0.3):
            kept = kept[int(self.rng.integers(0, len(kept) + 1)) :]
        elif len(kept) < 5 and self.chance(0.08) and np.prod(shape) < MOST:
            kept = [self.extent(3), *kept]
        return self.new(kind, kept, **bounds)

    # nodes

    def add(self, op: str, inputs: Sequence[str], outputs: int = 1, final: bool = False, **attributes) -> list[str]:
        """A node, evaluated; Unusable, and the graph as it was, where it does not fit."""
        names = [self.name("v") for _ in range(outputs)]
        domain = attributes.pop("domain", "")
        node = helper.make_node(op, list(inputs), names, name=self.name("n"), domain=domain, **attributes)
        types = infer_types(self.graph, node, self.values)
        kinds = {name: type_.tensor_type.elem_type for name, type_ in types.items()}
        self.graph.kinds |= kinds
        try:
            made = step(self.graph, node, self.values, MODE, types)
        except Unusable:
            for name in kinds:
                del self.graph.kinds[name]
            raise
        self.graph.nodes.append(node)
        self.values |= made
        self.final |= set(names) if final else set()
        return names


def _broadcasts(a, b) -> bool:
    try:
        return int(np.prod(np.broadcast_shapes(a, b))) <= 2 * MOST and len(np.broadcast_shapes(a, b)) <= 6
    except ValueError:
        return False


def graph_attribute(nodes: list[onnx.NodeProto], inputs, outputs, name: str = "body") -> onnx.GraphProto:
    """A body: inputs are (name, kind, shape), outputs (name, kind)."""
    return helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info(*entry) for entry in inputs],
        [helper.make_tensor_value_info(n, k, None) for n, k in outputs],
    )

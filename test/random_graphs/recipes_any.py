"""Elementwise operators and others whose operands follow from ONNX's schema, with the domains of functions."""

from __future__ import annotations

import numpy as np
import onnx

from .draw import Draw
from .exact import Unusable, schema_of
from .model import FLOATS

# Values of a new operand; those that exist are tried first.
DOMAINS = {
    "Acos": (-0.9, 0.9),
    "Asin": (-0.9, 0.9),
    "Atanh": (-0.9, 0.9),
    "Acosh": (1.2, 8),
    "Log": (0.1, 8),
    "Sqrt": (0, 8),
    "Reciprocal": (0.5, 8),
    "Tan": (-1.3, 1.3),
    "Cosh": (-3, 3),
    "Sinh": (-3, 3),
    "Exp": (-4, 3),
}
DIVISORS = {"Div": (1, 6), "Mod": (1, 6)}
# Attributes without which ONNX refuses the operator, or that are worth changing.
ATTRIBUTES = {
    "BitShift": lambda d, kind: {"direction": d.one(["LEFT", "RIGHT"])},
    "Mod": lambda d, kind: {"fmod": 1 if kind in FLOATS else int(d.chance(0.5))},
    "Gelu": lambda d, kind: {"approximate": d.one(["none", "tanh"])},
    "IsInf": lambda d, kind: {"detect_negative": int(d.chance(0.5))},
    "LeakyRelu": lambda d, kind: {"alpha": 0.25} if d.chance(0.5) else {},
    "Elu": lambda d, kind: {"alpha": 0.5} if d.chance(0.5) else {},
    "Celu": lambda d, kind: {"alpha": 1.5} if d.chance(0.5) else {},
    "Swish": lambda d, kind: {"alpha": 0.5} if d.chance(0.5) else {},
    "HardSigmoid": lambda d, kind: {"alpha": 0.25, "beta": 0.375} if d.chance(0.5) else {},
    "ThresholdedRelu": lambda d, kind: {"alpha": 0.53125} if d.chance(0.5) else {},
    "Shrink": lambda d, kind: {"lambd": 1.53125, "bias": 0.25} if d.chance(0.5) else {},
    "Selu": lambda d, kind: {"alpha": 1.5, "gamma": 1.25} if d.chance(0.3) else {},
}


def by_schema(d: Draw, op: str, domain: str = "") -> list[str]:
    """A node whose operands broadcast with the first, as for every elementwise operator. An operator without a recipe
    is drawn so."""
    schema = schema_of(op, d.graph.opset, domain)
    least = [i for i in schema.inputs if i.option == onnx.defs.OpSchema.FormalParameterOption.Single]
    many = bool(schema.inputs) and schema.inputs[-1].option == onnx.defs.OpSchema.FormalParameterOption.Variadic
    count = int(d.rng.integers(1, 4)) if many else len(least)
    low, high = DOMAINS.get(op, (-4, 4))
    first = d.pick(d.kinds(op, 0, domain), low=low, high=high, fresh=0.6 if op in DOMAINS else 0.25)
    kind, inputs = d.kind_of(first), [first]
    if op == "Pow":
        return _pow(d, first)
    for place in range(1, count):
        formal = schema.inputs[min(place, len(schema.inputs) - 1)]
        same = formal.type_str == schema.inputs[0].type_str
        other = kind if same else d.kind(d.kinds(op, place, domain))
        if op in DIVISORS:
            inputs.append(_divisor(d, first, other, *DIVISORS[op]))
        elif op == "BitShift":
            inputs.append(d.new(other, d.shape_of(d.like(first)), 0, 3))
        else:
            inputs.append(d.like(first, other))
    return d.add(op, inputs, domain=domain, **ATTRIBUTES.get(op, lambda *_: {})(d, kind))


def _divisor(d: Draw, first: str, kind: int, low: float, high: float) -> str:
    """Away from 0, of both signs where the type has one."""
    shape = [1 if d.chance(0.3) else n for n in d.shape_of(first)]
    array = d.array(kind, shape, low, high)
    dtype = array.dtype
    if not dtype.name.startswith("uint"):
        array = np.where(d.rng.random(shape) < 0.5, array, -array).astype(dtype)
    array = np.where(array == 0, np.ones((), dtype), array).astype(dtype)
    if d.chance(0.3):
        found = d.find(lambda n: d.kind_of(n) == kind and d.shape_of(n) == tuple(d.shape_of(first)))
        if found and np.min(np.abs(d.values[found].array.astype(float)), initial=9) > 0.2:
            return found
    return d.put(array, kind, d.chance(0.5))


def _pow(d: Draw, first: str) -> list[str]:
    kind = d.kind_of(first)
    other = kind if d.chance(0.6) else d.kind(d.kinds("Pow", 1))
    if kind in FLOATS:
        if np.min(d.values[first].array, initial=1) <= 0.05:
            first = d.new(kind, d.shape_of(first), 0.25, 4)
        return d.add("Pow", [first, d.new(other, [1 if d.chance(0.5) else n for n in d.shape_of(first)], 0, 3)])
    if other in FLOATS:
        raise Unusable("integers to fractions")
    return d.add("Pow", [first, d.new(other, d.shape_of(first)[:0], 0, 3)])


def clip(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Clip"))
    kind = d.kind_of(x)
    low, high = d.new(kind, [], -3, 0), d.new(kind, [], 1, 3)
    return d.add("Clip", d.one([[x, low, high], [x, "", high], [x, low], [x]]))


def cast(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Cast"))
    return d.add("Cast", [x], to=_target(d, x, d.kinds("Cast")))


def _target(d: Draw, x: str, kinds) -> int:
    """A type that holds the values: what others become is not defined."""
    kind = d.kind(kinds)
    name = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind)).name
    array = d.values[x].array.astype(np.float64)
    if "int" in name:
        bits = int(name.removeprefix("u").removeprefix("int"))
        low, high = (0, 2**bits - 1) if name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if np.min(array, initial=0) < low or np.max(array, initial=0) > high:
            raise Unusable("beyond the type")
    return kind


def cast_like(d: Draw) -> list[str]:
    x = d.pick(d.kinds("CastLike"))
    kind = _target(d, x, d.kinds("CastLike", 1))
    return d.add("CastLike", [x, d.find(lambda n: d.kind_of(n) == kind) or d.new(kind, [1])])


def bit_cast(d: Draw) -> list[str]:
    import ml_dtypes  # noqa: F401  numpy's names of the types

    x = d.pick([k for k in d.kinds("BitCast") if k not in FLOATS and k in _WIDTH])
    kind = d.one([k for k, bits in _WIDTH.items() if bits == _WIDTH[d.kind_of(x)]])
    return d.add("BitCast", [x], to=kind)


_WIDTH = {onnx.TensorProto.DataType.Value(f"{s}INT{b}"): b for s in ("", "U") for b in (8, 16, 32, 64)}


def where(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Where", 1))
    return d.add("Where", [d.like(x, onnx.TensorProto.BOOL), x, d.like(x)])


def prelu(d: Draw) -> list[str]:
    x = d.pick(d.kinds("PRelu"))
    shape = d.shape_of(x)
    kept = [1 if d.chance(0.4) else n for n in shape][int(d.rng.integers(0, len(shape) + 1)) :]
    return d.add("PRelu", [x, d.new(d.kind_of(x), kept, -1, 1)])


def dropout(d: Draw) -> list[str]:
    x = d.pick(d.kinds("Dropout"))
    return d.add("Dropout", [x, d.new(onnx.TensorProto.FLOAT, [], 0, 0.5, weight=1)] if d.chance(0.5) else [x])


RECIPES = {
    "Clip": clip,
    "Cast": cast,
    "CastLike": cast_like,
    "BitCast": bit_cast,
    "Where": where,
    "PRelu": prelu,
    "Dropout": dropout,
}

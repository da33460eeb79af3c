"""Kernels for target `python`: looked up by their mangled name, or built from what the name says.

A factory gets (operand types, result types, attributes) and returns the function that computes the results; types are
texts such as "tensor<16x768xf32>". The operations are TOSA's, and those of `arith`, `math` and `tensor` on tensors;
numpy computes them.
"""

import math
from collections.abc import Callable

import numpy as np

from .. import _vm

Factory = Callable[[list[str], list[str], dict], Callable]

_DTYPES = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}


def parse_type(text: str) -> tuple[tuple[int, ...] | None, type]:
    """(shape, dtype); the shape of a scalar is None, an unknown extent -1."""
    if not text.startswith("tensor<"):
        return None, _DTYPES[text]
    *sizes, element = text[7:-1].split("x")
    return tuple(-1 if size == "?" else int(size) for size in sizes), _DTYPES[element]


def tensor_type(text: str) -> tuple[tuple[int, ...], type]:
    """As parse_type, of a tensor."""
    shape, dtype = parse_type(text)
    if shape is None:
        raise TypeError(f"expects a tensor, got {text}")
    return shape, dtype


class KernelRegistry:
    """Functions by mangled name, factories by callee ("device.add")."""

    def __init__(self):
        self.functions: dict[str, Callable] = {}
        self.factories: dict[str, Factory] = {}
        self.built: list[str] = []  # names of kernels that were made just in time

    def kernel(self, name: str, function: Callable) -> None:
        """Adds a finished kernel under its mangled name."""
        self.functions[name] = function

    def factory(self, callee: str, make: Factory) -> None:
        self.factories[callee] = make

    def find(self, name: str) -> Callable | None:
        """The kernel of a mangled name; built from the name when it is new."""
        key = _vm.demangle(name)
        return None if key is None else self.resolve(name, key)

    def resolve(self, name: str, key: tuple) -> Callable | None:
        if name not in self.functions:
            callee, operands, results, attributes = key
            if callee not in self.factories:
                return None
            self.functions[name] = _typed(self.factories[callee](operands, results, attributes), results)
            self.built.append(name)
        return self.functions[name]


def _typed(function: Callable, results: list[str]) -> Callable:
    """Gives a result the element type that the kernel's name promises: numpy widens where the VM does not."""
    if len(results) != 1:
        return function
    shape, dtype = parse_type(results[0])
    if shape is None:
        return function
    return lambda *arguments: np.asarray(function(*arguments)).astype(dtype, copy=False)


def _plain(function: Callable) -> Factory:
    return lambda operands, results, attributes: function


def _gather(operands, results, attributes):
    if len(tensor_type(operands[0])[0]) == 3 and len(tensor_type(operands[1])[0]) == 2:  # TOSA's: with a batch
        return lambda values, indices: np.take_along_axis(values, indices[:, :, None].astype(np.int64), axis=1)
    return lambda values, indices: values[indices]


def _clamp(operands, results, attributes):
    is_float = parse_type(results[0])[1] in (np.float16, np.float32, np.float64)
    low, high = (
        (attributes["min_fp"], attributes["max_fp"]) if is_float else (attributes["min_int"], attributes["max_int"])
    )
    return lambda x: np.clip(x, low, high)


def _cast(operands, results, attributes):
    dtype = parse_type(results[0])[1]
    is_float = parse_type(operands[0])[1] in (np.float16, np.float32, np.float64)
    if is_float and np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        return lambda x: np.clip(np.rint(x), limits.min, limits.max).astype(
            dtype
        )  # TOSA rounds to nearest even and saturates
    return lambda x: x.astype(dtype)


def _integer_division(a, b):
    quotient = np.abs(a.astype(np.int64)) // np.abs(b.astype(np.int64))
    return quotient * np.sign(a) * np.sign(b)


def _pad(operands, results, attributes):
    def pad(x, padding, value=0):
        widths = np.asarray(padding).reshape(x.ndim, 2)
        return np.pad(x, widths, constant_values=np.asarray(value).item())

    return pad


def _reduce(function):
    return lambda operands, results, attributes: lambda x: function(x, axis=attributes["axis"], keepdims=True)


def _reshape(operands, results, attributes):
    shape = parse_type(results[0])[0]
    return lambda x, *_: np.reshape(x, attributes.get("new_shape", shape))


def _slice(operands, results, attributes):
    window = tuple(slice(begin, begin + size) for begin, size in zip(attributes["start"], attributes["size"]))
    return lambda x: x[window]


_OPEN = -(2**63)  # how MLIR marks a number that is an operand


def _fill(numbers, operands):
    """The numbers of a slice: known ones from the attribute, open ones from the operands, in order."""
    return [int(operands.pop(0)) if number == _OPEN else number for number in numbers]


def _region(attributes, operands):
    operands = list(operands)
    offsets, sizes, strides = (
        _fill(attributes["static_" + name], operands) for name in ("offsets", "sizes", "strides")
    )
    return tuple(
        slice(begin, begin + (size - 1) * step + 1, step) for begin, size, step in zip(offsets, sizes, strides)
    )


def _extract_slice(operands, results, attributes):
    rank = len(tensor_type(results[0])[0])

    def extract(x, *numbers):
        part = x[_region(attributes, numbers)]
        units = [axis for axis, size in enumerate(part.shape) if size == 1]
        return part.squeeze(tuple(units[: part.ndim - rank]))

    return extract


def _insert_slice(operands, results, attributes):
    def insert(part, x, *numbers):
        result = x.copy()
        region = _region(attributes, numbers)
        result[region] = part.reshape(result[region].shape)
        return result

    return insert


def _insert(operands, results, attributes):
    def insert(value, x, *indices):
        result = x.copy()
        result[indices] = value
        return result

    return insert


_CMPF: list[Callable] = [
    lambda a, b: np.zeros(np.shape(a), bool),
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    lambda a, b: (a < b) | (a > b),
    lambda a, b: ~(np.isnan(a) | np.isnan(b)),
]
_CMPI = [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal]


def _cmpf(operands, results, attributes):
    predicate = attributes["predicate"]
    if predicate < 8:
        return _CMPF[predicate]
    opposite = {8: 6, 9: 5, 10: 4, 11: 3, 12: 2, 13: 1, 14: 7, 15: 0}[predicate]
    ordered = _CMPF[opposite]  # an unordered predicate is what its ordered opposite is not
    return lambda a, b: ~ordered(a, b)


def _cmpi(operands, results, attributes):
    predicate, dtype = attributes["predicate"], parse_type(operands[0])[1]
    if predicate < 6:
        return _CMPI[predicate]
    unsigned = np.dtype(dtype).str.replace("i", "u")
    return lambda a, b: _CMPI[predicate - 4](a.view(unsigned), b.view(unsigned))


def _splat(operands, results, attributes):
    shape, dtype = tensor_type(results[0])
    return lambda value, *extents: np.full(
        _fill([_OPEN if size < 0 else size for size in shape], list(extents)), value, dtype
    )


def _windows(x, kernel, stride, pad, fill):
    """N x OH x OW x KH x KW x C views of an NHWC tensor; TOSA's pad is top, bottom, left, right."""
    x = np.pad(x, ((0, 0), pad[:2], pad[2:], (0, 0)), constant_values=fill)
    views = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(1, 2))
    return views[:, :: stride[0], :: stride[1]].transpose(0, 1, 2, 4, 5, 3)


def _conv2d(operands, results, attributes):
    (dy, dx), dtype = attributes["dilation"], parse_type(results[0])[1]

    def conv(x, weight, bias):
        features, kh, kw, channels = weight.shape
        spread = np.zeros((features, (kh - 1) * dy + 1, (kw - 1) * dx + 1, channels), weight.dtype)
        spread[:, ::dy, ::dx] = weight
        views = _windows(x, spread.shape[1:3], attributes["stride"], attributes["pad"], 0)
        return (np.einsum("nhwklc,fklc->nhwf", views, spread, optimize=True) + bias).astype(dtype)

    return conv


def _max_pool2d(operands, results, attributes):
    dtype = parse_type(operands[0])[1]
    fill = -np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min
    return lambda x: _windows(x, attributes["kernel"], attributes["stride"], attributes["pad"], fill).max(axis=(3, 4))


def _avg_pool2d(operands, results, attributes):
    arguments = attributes["kernel"], attributes["stride"], attributes["pad"], 0

    def pool(x):
        counted = _windows(np.ones_like(x), *arguments).sum(axis=(3, 4))
        return _windows(x, *arguments).sum(axis=(3, 4)) / counted

    return pool


_erf = np.vectorize(math.erf, otypes=[np.float64])

_ELEMENTWISE: dict[str, Callable] = {
    "abs": np.abs,
    "absf": np.abs,
    "absi": np.abs,
    "add": np.add,
    "addf": np.add,
    "addi": np.add,
    "andi": np.bitwise_and,
    "arithmetic_right_shift": np.right_shift,
    "bitwise_and": np.bitwise_and,
    "bitwise_not": np.invert,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "ceil": np.ceil,
    "cos": np.cos,
    "div": np.divide,
    "divf": np.divide,
    "divsi": lambda a, b: _integer_division(a, b),
    "equal": np.equal,
    "erf": _erf,
    "exp": np.exp,
    "floor": np.floor,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "identity": np.asarray,
    "int_div": _integer_division,
    "log": np.log,
    "log1p": np.log1p,
    "logical_and": np.logical_and,
    "logical_left_shift": np.left_shift,
    "logical_not": np.logical_not,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "maximum": np.maximum,
    "maximumf": np.maximum,
    "maxsi": np.maximum,
    "minimum": np.minimum,
    "minimumf": np.minimum,
    "minsi": np.minimum,
    "mul": np.multiply,
    "mulf": np.multiply,
    "muli": np.multiply,
    "negate": np.negative,
    "negf": np.negative,
    "ori": np.bitwise_or,
    "pow": np.power,
    "powf": np.power,
    "reciprocal": np.reciprocal,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "select": np.where,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sin": np.sin,
    "sqrt": np.sqrt,
    "sub": np.subtract,
    "subf": np.subtract,
    "subi": np.subtract,
    "tanh": np.tanh,
    "xori": np.bitwise_xor,
}

_FACTORIES: dict[str, Factory] = {
    "argmax": lambda operands, results, attributes: lambda x: np.argmax(x, axis=attributes["axis"]),
    "avg_pool2d": _avg_pool2d,
    "cast": _cast,
    "clamp": _clamp,
    "cmpf": _cmpf,
    "cmpi": _cmpi,
    "concat": lambda operands, results, attributes: (
        lambda *parts: np.concatenate(parts, axis=attributes.get("axis", attributes.get("dim")))
    ),
    "conv2d": _conv2d,
    "extract_slice": _extract_slice,
    "fully_connected": _plain(lambda x, weight, bias: x @ weight.T + bias),
    "gather": _gather,
    "insert": _insert,
    "insert_slice": _insert_slice,
    "matmul": _plain(np.matmul),
    "max_pool2d": _max_pool2d,
    "pad": _pad,
    "reduce_all": _reduce(np.all),
    "reduce_any": _reduce(np.any),
    "reduce_max": _reduce(np.max),
    "reduce_min": _reduce(np.min),
    "reduce_prod": _reduce(np.prod),
    "reduce_sum": _reduce(np.sum),
    "reshape": _reshape,
    "reverse": lambda operands, results, attributes: lambda x: np.flip(x, axis=attributes["axis"]),
    "slice": _slice,
    "splat": _splat,
    "tile": lambda operands, results, attributes: lambda x: np.tile(x, attributes["multiples"]),
    "transpose": _plain(lambda x, permutation: np.transpose(x, np.asarray(permutation))),
}


def device_kernels(print: Callable[[str], None] = print) -> KernelRegistry:
    """The registry that programs for target `python` get unless they bring their own."""
    registry = KernelRegistry()
    for name, function in _ELEMENTWISE.items():
        registry.factory("device." + name, _plain(function))
    for name, factory in _FACTORIES.items():
        registry.factory("device." + name, factory)
    registry.factory(
        "python.print",
        lambda operands, results, attributes: lambda *values: print(" ".join(str(value) for value in values)),
    )
    return registry

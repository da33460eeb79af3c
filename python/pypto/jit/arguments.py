"""Arguments of a call: numbers, and tensors of numpy, torch (by pointer, strides and type name) and DLPack."""

import ctypes
import math
import numbers
from dataclasses import dataclass

import numpy as np

from pypto.pypto_core import DataType

# numpy's and torch's name of an element type -> that of DataType.
ELEMENT_TYPES = {
    "float16": "FP16",
    "float32": "FP32",
    "bfloat16": "BF16",
    "bool": "BOOL",
    "float8_e4m3fn": "FP8E4M3FN",
    "float8_e5m2": "FP8E5M2",
    "float8_e8m0fnu": "FP8E8M0",
    **{f"{sign}int{bits}": f"{sign.upper()}INT{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


@dataclass(frozen=True)
class Shaped:
    """What a specialisation knows of a tensor."""

    shape: tuple
    dtype: DataType

    @property
    def key(self):
        return tuple(getattr(each, "name_hint", each) for each in self.shape), self.dtype.name


@dataclass(frozen=True)
class Buffer(Shaped):
    """A tensor of the caller: `data` are its bytes where they lie."""

    data: np.ndarray
    writable: bool

    def overlaps(self, other):
        begin, end = self.data.ctypes.data, other.data.ctypes.data
        return begin < end + other.data.nbytes and end < begin + self.data.nbytes


def bound(name, order, args, keywords):
    """Arguments by parameter name. TypeError for a wrong count or name."""
    if len(args) > len(order):
        raise TypeError(f"{name}: expects {len(order)} arguments ({', '.join(order)}), not {len(args)}")
    given = dict(zip(order, args, strict=False))
    for key, value in keywords.items():
        if key not in order:
            raise TypeError(f"{name}: has no parameter {key}; it has {', '.join(order)}")
        if key in given:
            raise TypeError(f"{name}: argument {key} is given twice")
        given[key] = value
    missing = [each for each in order if each not in given]
    if missing:
        raise TypeError(f"{name}: expects {len(order)} arguments, {', '.join(missing)} is missing")
    return {each: given[each] for each in order}


def element_type(name, where) -> DataType:
    if name not in ELEMENT_TYPES:
        raise TypeError(f"{where}: tensors of type {name} are not supported")
    return getattr(DataType, ELEMENT_TYPES[name])


def array_type(name) -> str:
    """numpy's and torch's name of an element type."""
    return next(theirs for theirs, ours in ELEMENT_TYPES.items() if ours == name)


def read(where, value):
    """A number, or the Buffer of a tensor. TypeError, ValueError name `where`."""
    if isinstance(value, (bool, int, float, Buffer)):
        return value
    if isinstance(value, ctypes._SimpleCData):
        return read(where, value.value)
    if hasattr(value, "held"):  # a DeviceTensor
        return Buffer(value.shape, value.dtype, value.held(where), True)
    if isinstance(value, np.generic) or isinstance(value, numbers.Number):
        if isinstance(value, (np.bool_, np.integer, np.floating)):
            return value.item()
        raise TypeError(f"{where}: a scalar of type {type(value).__name__} is not supported")
    if hasattr(value, "data_ptr") and hasattr(value, "stride"):
        return _torch(where, value)
    if not isinstance(value, np.ndarray):
        if not hasattr(value, "__dlpack__") or isinstance(value, type):
            raise TypeError(f"{where}: expects a numpy array, a torch tensor or a number, not {type(value).__name__}")
        try:
            value = np.from_dlpack(value)
        except (TypeError, ValueError, RuntimeError, BufferError, AttributeError) as error:
            raise TypeError(f"{where}: a {type(value).__name__} gives no tensor by DLPack: {error}") from None
    if not value.dtype.isnative:
        raise TypeError(f"{where}: the bytes of the array are in foreign order")
    _check_size(where, value.shape)
    if not value.flags.c_contiguous:
        raise ValueError(f"{where}: must be contiguous; pass a copy")
    dtype = element_type(value.dtype.name, where)
    return Buffer(value.shape, dtype, value, value.flags.writeable)


def _check_size(where, shape):
    if not shape:
        raise ValueError(f"{where}: a tensor needs at least one axis; pass a number for a scalar")
    if 0 in shape:
        raise ValueError(f"{where}: the tensor of shape {list(shape)} is empty")


def _torch(where, value):
    if str(getattr(value, "device", "cpu")).split(":")[0] != "cpu":
        raise ValueError(f"{where}: must be a CPU tensor, not one on {value.device}")
    if getattr(value, "requires_grad", False):
        raise ValueError(f"{where}: requires_grad is set; pass x.detach()")
    layout = "nested" if getattr(value, "is_nested", False) else str(getattr(value, "layout", "torch.strided"))
    if layout != "torch.strided":
        raise ValueError(f"{where}: must be a dense tensor, not a {layout.removeprefix('torch.')} one")
    if hasattr(value, "is_neg") and value.is_neg():
        raise ValueError(f"{where}: its memory has the negative numbers; pass x.resolve_neg()")
    shape = tuple(int(extent) for extent in value.shape)
    _check_size(where, shape)
    dense, wanted = 1, []
    for extent in reversed(shape):
        wanted.insert(0, dense)
        dense *= extent
    strides = zip(shape, value.stride(), wanted, strict=True)
    if any(extent > 1 and stride != expected for extent, stride, expected in strides):
        raise ValueError(f"{where}: must be contiguous; pass x.contiguous()")
    dtype = element_type(str(value.dtype).removeprefix("torch."), where)
    size = math.prod(shape) * dtype.get_byte()
    if value.data_ptr() == 0 or _behind(value) < size:
        raise ValueError(f"{where}: the memory of the tensor is not there, or was made smaller")
    data = np.frombuffer((ctypes.c_char * size).from_address(value.data_ptr()), np.uint8)
    return Buffer(shape, dtype, data, True)


def _behind(value):
    """Bytes of the memory from the first element of a torch tensor on."""
    storage = getattr(value, "untyped_storage", getattr(value, "storage", None))
    if storage is None:
        return math.inf
    return storage().nbytes() - value.storage_offset() * value.element_size()


def shown(value):
    """A value of a call as messages have it."""
    if isinstance(value, Shaped):
        return f"a tensor of {value.dtype.name} {list(value.key[0])}"
    if isinstance(value, int) and abs(value) >= 1 << 200:  # Python refuses to print very long ones
        return f"a number of {value.bit_length()} bits"
    return f"the number {value}" if isinstance(value, (int, float)) else f"a {type(value).__name__}"


def scalar(where, value, dtype):
    """The number as one of that type. TypeError for a fraction, ValueError for what does not fit."""
    name = shown(value).removeprefix("the number ")
    if dtype == DataType.BOOL:
        if value not in (0, 1):
            raise ValueError(f"{where}: {name} is no BOOL")
        return bool(value)
    if dtype.is_float():
        most = float(np.finfo(np.float16 if dtype == DataType.FP16 else np.float32).max)
        if abs(value) > most and abs(value) != math.inf:
            raise ValueError(f"{where}: {name} does not fit into {dtype.name}")
        return float(value)
    if isinstance(value, float) and not value.is_integer():
        raise TypeError(f"{where}: {name} is no {dtype.name}")
    bits = 64 if dtype == DataType.INDEX else dtype.get_bit()
    low, high = (0, 1 << bits) if dtype.name.startswith("U") else (-(1 << bits - 1), 1 << bits - 1)
    if not low <= value < high:
        raise ValueError(f"{where}: {name} does not fit into {dtype.name}")
    return int(value)

"""PTO-AS programs on the host: numpy does what each operation says, in the kernel's types."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pto.segments import check_defined
from pto_as import NUMPY_DTYPES, Kernel, Op, PTOError, Repeat, Value

_UNARY: dict[str, Callable] = {
    "tile_copy": lambda x: x,
    "tile_exp": np.exp,
    "tile_sqrt": np.sqrt,
    "tile_abs": np.abs,
    "tile_relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "tile_neg": np.negative,
}
_BINARY: dict[str, Callable] = {
    "tile_add": np.add,
    "tile_sub": np.subtract,
    "tile_mul": np.multiply,
    "tile_div": np.divide,
    "tile_max": np.maximum,
    "tile_min": np.minimum,
}


def numpy_dtype(dtype: str) -> np.dtype:
    """numpy's type of a PTO-AS type; bf16 is that of the package ml_dtypes."""
    if dtype != "bf16":
        return np.dtype(NUMPY_DTYPES[dtype])
    try:
        import ml_dtypes
    except ImportError:
        raise PTOError("bf16 on the host needs the package ml_dtypes") from None
    return np.dtype(ml_dtypes.bfloat16)


class Interpreter:
    """A function of the kernel's arguments, which are arrays and numbers; tensors are written in place."""

    def __init__(self, kernel: Kernel):
        check_defined(kernel)
        self.kernel = kernel

    def __call__(self, *args) -> None:
        expected = self.kernel.arguments()
        if len(args) != len(expected):
            raise PTOError(f"@{self.kernel.name} takes {len(expected)} arguments, got {len(args)}")
        values = {}
        for value, argument in zip(expected, args, strict=True):
            dtype = numpy_dtype(value.dtype)
            values[value.name] = self.array(value, argument, dtype) if value.kind == "tensor" else dtype.type(argument)
        for value in self.kernel.values:
            if value.kind == "tile":
                values[value.name] = np.zeros(value.shape, numpy_dtype(value.dtype))
            elif value.value is not None:
                values[value.name] = numpy_dtype(value.dtype).type(value.value)
        with np.errstate(all="ignore"):
            self.body(self.kernel.body, values)

    def array(self, value: Value, argument, dtype: np.dtype) -> np.ndarray:
        return check_array(self.kernel.name, value, argument, dtype).view(dtype).reshape(value.shape)

    def body(self, body: list, values: dict) -> None:
        for item in body:
            if isinstance(item, Repeat):
                for _ in range(item.count if isinstance(item.count, int) else int(values[item.count.name])):
                    self.body(item.body, values)
            else:
                dst, *sources = (values[operand.name] for operand in item.operands)
                dst[...] = _result(item, dst, sources)


def check_array(kernel: str, value: Value, argument, dtype: np.dtype) -> np.ndarray:
    """The argument when it is a dense array of the tensor's type and size; bf16 may come as its bits in uint16."""
    same = (
        isinstance(argument, np.ndarray)
        and argument.size == np.prod(value.shape)
        and (argument.dtype == dtype or (value.dtype == "bf16" and argument.dtype == np.uint16))
    )
    if not same:
        got = f"{argument.dtype} {argument.shape}" if isinstance(argument, np.ndarray) else type(argument).__name__
        raise PTOError(f"@{kernel}: %{value.name} expects an array of {dtype} {value.shape}, got {got}")
    if not argument.flags.c_contiguous:
        raise PTOError(f"@{kernel}: %{value.name} expects a dense array, this one is strided")
    return argument


def _result(op: Op, dst: np.ndarray, sources: list):
    if op.name == "tile_expands":
        return sources[0]
    if op.name in _UNARY:
        return _UNARY[op.name](sources[0])
    if op.name.startswith("tile_matmul"):
        wide = {"f": np.float32, "i": np.int64, "b": np.float32}[op.operands[1].dtype[0]]
        wide = np.float64 if op.operands[1].dtype == "f64" else wide
        product = sources[0].astype(wide) @ sources[1].astype(wide)
        return dst + product if op.name.endswith("acc") else product
    name = op.name if op.name in _BINARY else op.name[:-1]  # tile_adds computes as tile_add
    return _BINARY[name](*sources)

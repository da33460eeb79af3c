"""Builds tile kernels in Python and compiles them.

    from pto import PTO

    pto = PTO("my_kernel")
    A = pto.tensor(shape=(64, 64), dtype="float32")
    B = pto.tensor(shape=(64, 64), dtype="float32")
    C = pto.tensor(shape=(64, 64), dtype="float32")
    pto.tile_add(C, A, B)
    text = pto.build()  # PTO-AS, see the package pto_as

Tensors are the kernel's arguments in the order in which they are made. Every `tile_*` operation of pto_as.OPS is a
method.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pto_as
from pto_as import PTOError, Value

from .ast_frontend import ast_frontend
from .emit import workspace
from .files import write_kernels
from .functions import PTOFunctionBuilder, PTOModule, generate_ascend_code

__all__ = ["PTO", "PTOError", "PTOFunctionBuilder", "PTOModule", "ast_frontend", "generate_ascend_code", "scalar"]


def scalar(value: float | int, dtype: str = "float32") -> tuple[float | int, str]:
    """A constant for an operation, outside any kernel; `PTO` names it when it is used."""
    return value, dtype


class PTO:
    """One kernel. Mistakes raise PTOError at the call that makes them."""

    def __init__(self, name: str):
        self._kernel = pto_as.Kernel(pto_as.check_name(name))
        self._bodies = [self._kernel.body]

    @property
    def name(self) -> str:
        return self._kernel.name

    def tensor(self, shape, dtype: str = "float32", name: str | None = None) -> Value:
        """An argument in global memory."""
        return self._declare("tensor", shape, dtype, name)

    def tile(self, shape, dtype: str = "float32", name: str | None = None) -> Value:
        """Local memory of the kernel, undefined before it is written."""
        return self._declare("tile", shape, dtype, name)

    def scalar(self, value: float | int | None = None, dtype: str = "float32", name: str | None = None) -> Value:
        """A constant or, without a value, an argument."""
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise PTOError(f"a scalar is a number, got {value!r}")
        if value is not None:
            value = int(value) if dtype.startswith("int") else float(value)
        return self._add(Value(self._name("s", name), "scalar", _short(dtype), (), value))

    @contextmanager
    def repeat(self, count: int | Value):
        """What is built inside happens `count` times; a scalar argument of i32 or i64 gives the count when the kernel
        runs."""
        if isinstance(count, Value):
            self._own("repeat", count)
        loop = pto_as.Repeat(pto_as.check_count(count))
        self._bodies[-1].append(loop)
        self._bodies.append(loop.body)
        try:
            yield
        finally:
            self._bodies.pop()

    def build(self) -> str:
        """The kernel as PTO-AS text; the same calls give the same text."""
        return pto_as.print_kernel(self._kernel)

    def compile(self, path, processor: str = "a3") -> list[Path]:
        """Writes the kernel as text for pto-compile (X.pto) or compiled (X.pmodel); returns what was written."""
        return [write_kernels([self._kernel], path, processor)]

    def workspace(self) -> list[Value]:
        """The tiles for which the compiled kernel takes further pointers behind those of the tensors; see
        emit.workspace."""
        return workspace(self._kernel)

    def kernel(self) -> pto_as.Kernel:
        return self._kernel

    def __str__(self) -> str:
        return self.build()

    def __getattr__(self, op: str):
        if op not in pto_as.OPS:
            raise AttributeError(f"PTO has no '{op}'; operations are {', '.join(sorted(pto_as.OPS))}")

        def append(*operands) -> None:
            self._bodies[-1].append(
                pto_as.check_op(pto_as.Op(op, [self._operand(op, operand, operands) for operand in operands]))
            )

        return append

    def _operand(self, op: str, operand, operands) -> Value:
        if isinstance(operand, Value):
            return self._own(op, operand)
        like = next((value for value in operands if isinstance(value, Value)), None)
        if isinstance(operand, tuple) and len(operand) == 2:
            return self.scalar(*operand)
        if like is not None and isinstance(operand, (int, float)) and not isinstance(operand, bool):
            return self.scalar(operand, pto_as.NUMPY_DTYPES[like.dtype])
        raise PTOError(f"{op}: {operand!r} is neither a tensor, a tile nor a number")

    def _own(self, op: str, value: Value) -> Value:
        if not any(value is own for own in self._kernel.values):
            raise PTOError(f"{op}: %{value.name} belongs to another kernel")
        return value

    def _declare(self, kind: str, shape, dtype: str, name: str | None) -> Value:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return self._add(Value(self._name(kind[0], name), kind, _short(dtype), shape))

    def _name(self, prefix: str, name: str | None) -> str:
        return pto_as.check_name(name) if name is not None else f"{prefix}{len(self._kernel.values)}"

    def _add(self, value: Value) -> Value:
        if any(value.name == other.name for other in self._kernel.values):
            raise PTOError(f"%{value.name} is declared twice")
        self._kernel.values.append(pto_as.check_value(value))
        return value


def _short(dtype: str) -> str:
    if dtype not in pto_as.DTYPES:
        raise PTOError(f"'{dtype}' is no element type, expected one of {', '.join(pto_as.DTYPES)}")
    return pto_as.DTYPES[dtype]

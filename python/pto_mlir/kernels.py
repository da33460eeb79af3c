"""Kernels of users for operators of a model: what `model_transform --kernels FILE` takes.

A `.py` says which operator a PyPTO kernel computes::

    import pypto.language as pl
    from pto_mlir.kernels import implements

    @implements("example::Scale")
    @pl.jit
    def scale(x: pl.Tensor, out: pl.Out[pl.Tensor], factor: pl.FP32):
        ...

Parameters named like attributes of the node get their values; the others are its inputs, then its outputs, in order. An
output has the shape and the type of the first input unless `outputs` says them.

A `.pto` function says it by attributes: `pto.op = "example::Scale"` and `pto.op_types = (tensor<16x64xf32>) ->
tensor<16x64xf32>`.
"""

from __future__ import annotations

import importlib
import runpy
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import pypto
from .errors import UserError

_TYPES = ("f32", "f16", "bf16", "i32", "i16")


@dataclass(frozen=True)
class TensorSpec:
    """A tensor of a call without its elements: `dtype` is one of f32, f16, bf16, i32 and i16. Integers of other widths
    and booleans of a model reach kernels as i32."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class _Kernel:
    function: Any
    outputs: Callable[..., Sequence[TensorSpec]]


def _like_first(*inputs: TensorSpec, **_: Any) -> list[TensorSpec]:
    return [inputs[0]]


_registered: dict[str, _Kernel] = {}


def implements(operator: str, outputs: Callable[..., Sequence[TensorSpec]] = _like_first) -> Callable[[Any], Any]:
    """Decorates a function of `@pl.jit`: it computes nodes of `operator`, "DOMAIN::OPERATOR" (the default domain is
    empty: "::Softmax"). `outputs`: from the TensorSpec of each input, and the attributes as keywords, the TensorSpec of
    each output."""
    if operator.count("::") != 1 or operator.endswith("::"):
        raise ValueError(f"implements: expects DOMAIN::OPERATOR, got {operator!r}")

    def register(function: Any) -> Any:
        if not hasattr(function, "program"):
            raise TypeError(f"implements({operator!r}): expects a function of @pl.jit, not {function!r}")
        if operator in _registered:
            raise ValueError(f"implements({operator!r}): there is a kernel for it already")
        _registered[operator] = _Kernel(function, outputs)
        return function

    return register


class UserKernels:
    """The kernels of files; `names` are their operators. UserError for a file that holds none or is wrong."""

    def __init__(self, files: Sequence[str]) -> None:
        self._functions: dict[str, _Kernel] = {}
        self._texts: dict[str, list[tuple]] = {}
        for file in files:
            if not Path(file).is_file():
                raise UserError(f"--kernels: there is no file {file}")
            if file.endswith(".py"):
                self._load(file)
            elif file.endswith(".pto"):
                self._read(file)
            else:
                raise UserError(f"--kernels: expects a .py or a .pto, got {file}")
        both = self._functions.keys() & self._texts.keys()
        if both:
            raise UserError(f"--kernels: {min(both)} has kernels in several files")
        self.names = self._functions.keys() | self._texts.keys()

    def _load(self, file: str) -> None:
        pypto.enable()
        parser_error = importlib.import_module("pypto.language.parser.diagnostics").ParserError
        _registered.clear()
        sys.path.insert(0, str(Path(file).resolve().parent))
        try:
            runpy.run_path(file, run_name="__pypto__")
        except parser_error as error:
            raise UserError(f"--kernels {file}: {pypto.described(error)}") from None
        except Exception as error:
            raise UserError(f"--kernels {file}: {type(error).__name__}: {error}") from None
        finally:
            sys.path.pop(0)
        if not _registered:
            raise UserError(f'--kernels {file}: has no function under @implements("DOMAIN::OPERATOR")')
        for name, kernel in _registered.items():
            if name in self._functions:
                raise UserError(f"--kernels {file}: {name} has a kernel in another file")
            self._functions[name] = kernel

    def _read(self, file: str) -> None:
        from .compiler import native_call

        for name, inputs, kernel in native_call("read_text_kernels", file):
            self._texts.setdefault(name, []).append((inputs, kernel))

    def find(self, name: str, inputs: list[tuple], attributes: dict[str, Any]) -> tuple:
        """The kernel for a call: results, slots and steps; ValueError says why there is none."""
        if name in self._functions:
            return _specialise(self._functions[name], inputs, attributes)
        for taken, kernel in self._texts[name]:
            if taken == inputs:
                return kernel
        known = "; ".join(", ".join(map(_text, taken)) for taken, _ in self._texts[name])
        raise ValueError(f"takes {known}, not {', '.join(map(_text, inputs))}")


def _text(tensor: tuple) -> str:
    return "x".join([*map(str, tensor[1]), tensor[0]])


def _outputs(kernel: _Kernel, inputs: list[tuple], attributes: dict[str, Any]) -> list[TensorSpec]:
    given = [TensorSpec(tuple(shape), dtype) for dtype, shape in inputs]
    try:
        outputs = list(kernel.outputs(*given, **attributes))
    except Exception as error:
        raise ValueError(f"its outputs: {type(error).__name__}: {error}") from None
    for each in outputs:
        if not isinstance(each, TensorSpec) or each.dtype not in _TYPES:
            raise ValueError(f"its outputs: expects TensorSpec of {', '.join(_TYPES)}, got {each!r}")
    return outputs


def _specialise(kernel: _Kernel, inputs: list[tuple], attributes: dict[str, Any]) -> tuple:
    from .compiler import chips, native_call

    function = kernel.function
    unknown = [name for name in attributes if name not in function.order]
    if unknown:
        raise ValueError(f"{function.__name__} has no parameter for the attribute {unknown[0]}")
    outputs = _outputs(kernel, inputs, attributes)
    tensors = [name for name in function.order if name not in attributes]
    if len(tensors) != len(inputs) + len(outputs):
        raise ValueError(
            f"{function.__name__} takes {', '.join(tensors)}; the node has {len(inputs)} inputs and the attributes "
            f"{', '.join(attributes) or '(none)'}, and its kernel {len(outputs)} outputs"
        )
    specs = [(dtype, tuple(shape)) for dtype, shape in inputs] + [(each.dtype, each.shape) for each in outputs]
    data = _lower(function, dict(zip(tensors, specs, strict=True)), attributes)
    names = tensors[: len(inputs)], tensors[len(inputs) :]
    found, problems = {}, []
    for processor in chips():
        try:
            found[processor] = native_call("kernel_of_program", data, processor, *names)
        except UserError as error:
            problems.append(str(error))
    if not found:
        raise ValueError(problems[0])
    # Processors whose launches differ from the first one's are left out.
    _, slots, steps = next(iter(found.values()))
    ports = [step[1:] for step in steps]
    same = [each for _, others, each in found.values() if others == slots and [step[1:] for step in each] == ports]
    merged = [
        (dict(item for each in same for item in each[number][0].items()), *step[1:])
        for number, step in enumerate(steps)
    ]
    return [(each.dtype, list(each.shape)) for each in outputs], slots, merged


def _lower(function: Any, tensors: dict[str, tuple], attributes: dict[str, Any]) -> bytes:
    """The bytes of the kernel's program for these tensors and numbers."""
    arguments = importlib.import_module("pypto.jit.arguments")
    core = importlib.import_module("pypto.pypto_core")
    types = importlib.import_module("pypto.ir.program_file").TYPES
    parser_error = importlib.import_module("pypto.language.parser.diagnostics").ParserError
    values = {
        name: attributes[name]
        if name in attributes
        else arguments.Shaped(tensors[name][1], getattr(core.DataType, types[tensors[name][0]]))
        for name in function.order
    }
    try:
        return core.ir.serialize(function.program(values))
    except parser_error as error:
        raise ValueError(pypto.described(error)) from None
    except TypeError as error:
        raise ValueError(str(error)) from None

"""In-core functions from PTO-AS text, and modules of several."""

from __future__ import annotations

from pathlib import Path

import pto_as
from pto_as import PTOError

from .files import write_kernels


def generate_ascend_code(source) -> str:
    """C++ of a kernel. Not available: the emitter of C++ from pto functions is not part of this version."""
    raise PTOError(
        'C++ of a kernel is not available; PTO.compile("x.pto") and compile("x.pmodel") write the kernel itself'
    )


class PTOFunctionBuilder:
    """One in-core function, from a PTO builder, a pto_as.Kernel or text with one kernel."""

    def __init__(self, source):
        if hasattr(source, "kernel"):
            source = source.kernel()
        if isinstance(source, str):
            kernels = pto_as.parse(source)
            if len(kernels) != 1:
                raise PTOError(f"expects text with one kernel, got {len(kernels)}")
            source = kernels[0]
        if not isinstance(source, pto_as.Kernel):
            raise PTOError(f"expects a PTO, a kernel or text, got {type(source).__name__}")
        self.function = source

    @property
    def name(self) -> str:
        return self.function.name

    def build(self) -> str:
        return pto_as.print_kernel(self.function)

    def code(self) -> str:
        """C++ of the function; see generate_ascend_code."""
        return generate_ascend_code(self.function)


class PTOModule:
    """Several functions with different names."""

    def __init__(self, name: str = "module"):
        self.name = pto_as.check_name(name)
        self.functions: dict[str, PTOFunctionBuilder] = {}

    @classmethod
    def parse(cls, text: str, name: str = "module") -> PTOModule:
        module = cls(name)
        for kernel in pto_as.parse(text):
            module.add(kernel)
        return module

    def add(self, source) -> PTOFunctionBuilder:
        function = source if isinstance(source, PTOFunctionBuilder) else PTOFunctionBuilder(source)
        if function.name in self.functions:
            raise PTOError(f"module {self.name} has a function @{function.name} already")
        self.functions[function.name] = function
        return function

    def build(self) -> str:
        return pto_as.print_program([function.function for function in self.functions.values()])

    def compile(self, path, processor: str = "a3") -> Path:
        """Writes the functions as one X.pto or X.pmodel."""
        if not self.functions:
            raise PTOError(f"module {self.name} has no function to compile")
        return write_kernels([function.function for function in self.functions.values()], path, processor)

    def code(self) -> str:
        return generate_ascend_code([function.function for function in self.functions.values()])

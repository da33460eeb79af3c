"""From kernel source to something that runs: on the simulated cores, or on the host."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pto_as
from pto.emit import workspace
from pto.files import write_kernels
from pto_as import PTOError
from pto_mlir.runtime import Kernel

from .interpreter import Interpreter, check_array, numpy_dtype

KINDS = ("aicore", "aicpu", "host")


class Binary:
    """A compiled kernel file: `kind`, `path`, the names of its functions."""

    def __init__(self, kind: str, path: Path, functions: list[str], folder: tempfile.TemporaryDirectory):
        self.kind = kind
        self.path = path
        self.functions = functions
        self._folder = folder
        self._library: ctypes.CDLL | None = None
        self._programs: dict[str, Callable] = {}

    @property
    def is_native(self) -> bool:
        """Whether the functions are machine code of this process, with the uniform ABI."""
        return self.path.suffix == ".so"

    def function_name(self, name: str | None) -> str:
        if name is None and len(self.functions) == 1:
            return self.functions[0]
        if name not in self.functions:
            raise ValueError(f"{self.path.name} has the functions {', '.join(self.functions)}; got {name!r}")
        return name

    def address(self, name: str | None = None) -> int:
        """Of a function of the uniform ABI, `void f(int64_t *args)`, in this process."""
        if not self.is_native:
            where = "runs on the simulator" if self.kind == "aicore" else "of PTO-AS is interpreted"
            raise ValueError(f"a binary for {self.kind} {where}, it has no address here")
        if self._library is None:
            self._library = ctypes.CDLL(str(self.path))
        return ctypes.cast(getattr(self._library, self.function_name(name)), ctypes.c_void_p).value or 0

    def callable(self, name: str | None = None) -> Callable:
        """The function for arrays: f(*arrays and scalars)."""
        name = self.function_name(name)
        if not self.is_native:
            return self._programs[name]
        address = self.address(name)
        function = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int64))(address)

        def call(*args):
            words = [
                arg.ctypes.data
                if isinstance(arg, np.ndarray)
                else int.from_bytes(np.asarray(arg).tobytes().ljust(8, b"\0"), "little", signed=True)
                for arg in args
            ]
            words.append(next((arg.size for arg in args if isinstance(arg, np.ndarray)), 0))
            function((ctypes.c_int64 * len(words))(*words))

        return call


class SimulatedKernel:
    """A kernel of PTO-AS on the simulator: checks the arguments and adds the workspace that the compiled function
    takes."""

    def __init__(self, kernel, path: Path, folder: tempfile.TemporaryDirectory):
        self.kernel, self.path = kernel, path
        self._folder = folder  # stays until the kernel is loaded
        self.workspace = workspace(kernel)
        self._loaded: Kernel | None = None

    def __call__(self, *args, block: int = 0, blocks: int = 1) -> None:
        """One launch on `blocks` blocks, by the task's first block."""
        if block:
            return
        expected = self.kernel.arguments()
        if len(args) != len(expected):
            raise PTOError(f"@{self.kernel.name} takes {len(expected)} arguments, got {len(args)}")
        memory, scalars = [], []
        for value, argument in zip(expected, args, strict=True):
            dtype = numpy_dtype(value.dtype)
            if value.kind == "tensor":
                memory.append(check_array(self.kernel.name, value, argument, dtype))
            else:
                scalars.append(float(argument) if value.dtype[0] != "i" else int(argument))
        memory += [np.empty(value.shape, numpy_dtype(value.dtype)) for value in self.workspace]
        if self._loaded is None:
            self._loaded = Kernel(self.path, self.kernel.name)
        self._loaded.run(*memory, *scalars, blocks=blocks)


class BinaryCompiler:
    """Compiles `source` (PTO-AS text, a PTO builder, or C++ with the uniform ABI) for a kind of processor:

    - `aicore`: a .pmodel that the simulator runs, by pto-compile. Needs PTO-AS or a PTO builder.
    - `host`, `aicpu`: of C++ a shared library, by the system's C++ compiler ($CXX, clang++ or g++); PTO-AS is
    interpreted with numpy.
    """

    def __init__(self, source=None):
        self.source = source

    def compile(self, kind: str, source=None, processor: str = "a3") -> Binary:
        """`processor`: the chip that an aicore binary is for, a3 or a5."""
        source = self.source if source is None else source
        if kind not in KINDS:
            raise ValueError(f"there is no kind '{kind}', expected one of {', '.join(KINDS)}")
        if source is None:
            raise ValueError("there is nothing to compile: pass a source")
        kernels = _kernels(source)
        if kind == "aicore":
            if kernels is None:
                raise ValueError("aicore needs PTO-AS text or a PTO builder; C++ sources compile for host and aicpu")
            return _compile_aicore(kernels, processor)
        return _compile_native(kind, source) if kernels is None else _interpret(kind, kernels)


def _kernels(source):
    """The PTO-AS kernels of a source, or None when it is C++."""
    if hasattr(source, "kernel"):
        return [source.kernel()]
    if isinstance(source, pto_as.Kernel):
        return [source]
    if hasattr(source, "build"):
        source = source.build()
    if re.search(r"^\s*kernel\s*@", source, re.MULTILINE):
        return pto_as.parse(source)
    return None


def _compile_native(kind: str, text: str) -> Binary:
    functions = re.findall(r'extern\s+"C"\s+(?:__aicore__\s+)?void\s+(\w+)\s*\(', text)
    if not functions:
        raise ValueError('the source has no function: expects extern "C" void name(int64_t *args)')
    compiler = os.environ.get("CXX") or shutil.which("clang++") or shutil.which("clang++-19") or shutil.which("g++")
    if not compiler:
        raise ValueError("there is no C++ compiler; install g++ or set CXX")
    folder = tempfile.TemporaryDirectory(prefix="pto_kernel_")
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    file = Path(folder.name) / f"kernel_{digest}.cpp"
    file.write_text(text)
    library = file.with_suffix(".so")
    # The words with which sources for the chip qualify functions and pointers mean nothing here; int64_t is there
    # without an include.
    words = ["-D__aicore__=", "-D__gm__=", "-include", "cstdint"]
    # Without -fno-gnu-unique a library with inline statics can never be unloaded.
    flags = ["-std=c++17", "-O2", "-fPIC", "-shared"] + (
        ["-fno-gnu-unique"] if "clang" not in Path(compiler).name else []
    )
    done = subprocess.run(
        [compiler, *flags, *words, "-o", str(library), str(file)], capture_output=True, text=True, errors="replace"
    )
    if done.returncode != 0:
        first = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr.strip()[:200])
        raise ValueError(f"{kind} compiler: {first.replace(str(file), 'kernel.cpp')}")
    return Binary(kind, library, functions, folder)


def _interpret(kind: str, kernels: list) -> Binary:
    folder = tempfile.TemporaryDirectory(prefix="pto_kernel_")
    path = Path(folder.name) / f"{kernels[0].name}.ptoas"
    path.write_text(pto_as.print_program(kernels))
    binary = Binary(kind, path, [kernel.name for kernel in kernels], folder)
    binary._programs = {kernel.name: Interpreter(kernel) for kernel in kernels}
    return binary


def _compile_aicore(kernels: list, processor: str) -> Binary:
    folder = tempfile.TemporaryDirectory(prefix="pto_kernel_")
    path = write_kernels(kernels, Path(folder.name) / f"{kernels[0].name}.pmodel", processor)
    binary = Binary("aicore", path, [kernel.name for kernel in kernels], folder)
    binary._programs = {kernel.name: SimulatedKernel(kernel, path, folder) for kernel in kernels}
    return binary

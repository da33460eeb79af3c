"""From kernel source to something that runs: by the host's compiler, or by ours for the simulated cores."""

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

KINDS = ("aicore", "aicpu", "host")


class Binary:
    """A compiled kernel file: `kind`, `path`, the names of its functions."""

    def __init__(self, kind: str, path: Path, functions: list[str], folder: tempfile.TemporaryDirectory):
        self.kind = kind
        self.path = path
        self.functions = functions
        self._folder = folder
        self._library = None
        self._programs: dict[str, Callable] = {}

    def function_name(self, name: str | None) -> str:
        if name is None and len(self.functions) == 1:
            return self.functions[0]
        if name not in self.functions:
            raise ValueError(f"{self.path.name} has the functions {', '.join(self.functions)}; got {name!r}")
        return name

    def address(self, name: str | None = None) -> int:
        """Of a function of the uniform ABI, `void f(int64_t *args)`, in this process."""
        if self.kind == "aicore":
            raise ValueError("an aicore binary runs on the simulator, it has no address here")
        if self._library is None:
            self._library = ctypes.CDLL(str(self.path))
        return ctypes.cast(getattr(self._library, self.function_name(name)), ctypes.c_void_p).value

    def callable(self, name: str | None = None) -> Callable:
        """The function for arrays: f(*arrays and scalars)."""
        name = self.function_name(name)
        if self.kind == "aicore":
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


class BinaryCompiler:
    """Compiles `source` (C++ with the uniform ABI, PTO-AS text, or a PTO builder) for a kind of processor:

    - `host`, `aicpu`: a shared library, by the system's C++ compiler ($CXX, clang++ or g++);
    - `aicore`: a .pmodel that the simulator runs, by this project's compiler. Needs PTO-AS or a PTO builder.
    """

    def __init__(self, source=None):
        self.source = source

    def compile(self, kind: str, source=None) -> Binary:
        source = self.source if source is None else source
        if kind not in KINDS:
            raise ValueError(f"there is no kind '{kind}', expected one of {', '.join(KINDS)}")
        if source is None:
            raise ValueError("there is nothing to compile: pass a source")
        return _compile_aicore(source) if kind == "aicore" else _compile_native(kind, source)


def _kernels(source):
    """The PTO-AS kernels of a source, or None when it is C++."""
    import pto_as

    if hasattr(source, "kernel"):
        return [source.kernel()]
    if isinstance(source, pto_as.Kernel):
        return [source]
    if hasattr(source, "build"):
        source = source.build()
    if re.search(r"^\s*kernel\s*@", source, re.MULTILINE):
        return pto_as.parse(source)
    return None


def _compile_native(kind: str, source) -> Binary:
    from pto import generate_ascend_code

    kernels = _kernels(source)
    text = source if kernels is None else generate_ascend_code(kernels)
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
    # The words with which sources for the chip qualify functions and pointers mean nothing here; int64_t is there without an include.
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


def _compile_aicore(source) -> Binary:
    kernels = _kernels(source)
    if kernels is None:
        raise ValueError("aicore needs PTO-AS text or a PTO builder; C++ sources compile for host and aicpu")
    from .aicore import compile_kernel

    folder = tempfile.TemporaryDirectory(prefix="pto_kernel_")
    binary = Binary(
        "aicore", Path(folder.name) / f"{kernels[0].name}.pmodel", [kernel.name for kernel in kernels], folder
    )
    for kernel in kernels:
        binary._programs[kernel.name] = compile_kernel(kernel, Path(folder.name))
    return binary

"""Runs an output tree: its orchestration, compiled by the system's C++ compiler, on the task runtime, with its kernels
on the simulated device."""

import ast
import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from pypto.ir.extents import extent_of, open_names, restored, sizes_of
from pypto.jit.arguments import Buffer, array_type, read
from pypto.pypto_core import DataType, ir

# DataType of tensor.h.
_TYPES = "FP32 FP16 BF16 INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 BOOL".split()
_AXES = 8  # Tensor::kMostAxes


class _Tensor(ctypes.Structure):
    """Tensor of tensor.h."""

    _fields_ = [
        ("address", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("start_offset", ctypes.c_uint64),
        ("ndims", ctypes.c_uint32),
        ("dtype", ctypes.c_int32),
        ("shapes", ctypes.c_uint64 * _AXES),
        ("strides", ctypes.c_uint64 * _AXES),
    ]

    @classmethod
    def of(cls, where, buffer: Buffer):
        if buffer.dtype.name not in _TYPES or len(buffer.shape) > _AXES:
            raise TypeError(
                f"{where}: an orchestration has no tensors of {buffer.dtype.name} with {len(buffer.shape)} axes"
            )
        strides = [int(np.prod(buffer.shape[axis + 1 :])) for axis in range(len(buffer.shape))]
        return cls(
            buffer.data.ctypes.data,
            buffer.data.nbytes,
            0,
            len(buffer.shape),
            _TYPES.index(buffer.dtype.name),
            (ctypes.c_uint64 * _AXES)(*buffer.shape),
            (ctypes.c_uint64 * _AXES)(*strides),
        )

    def array(self):
        """The dense tensor as an array of its memory."""
        kind = array_type(_TYPES[self.dtype])
        kind = np.dtype("uint16") if kind == "bfloat16" else np.dtype(kind)  # numpy has no bfloat16
        shape = tuple(self.shapes[: self.ndims])
        bytes_ = (ctypes.c_char * self.size).from_address(self.address)
        return np.frombuffer(bytes_, kind, int(np.prod(shape))).reshape(shape)


_Allocate = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64)


class _Runtime(ctypes.Structure):
    """PTO2Runtime of pto_orchestration_api.h."""

    _fields_ = [
        ("tasks", ctypes.c_void_p),
        ("kernels", ctypes.POINTER(ctypes.c_uint32)),
        ("num_kernels", ctypes.c_uint32),
        ("allocate", _Allocate),
        ("user", ctypes.c_void_p),
        ("failed", ctypes.c_int),
        ("reason", ctypes.c_char_p),
    ]


class _ChipTaskArgs(ctypes.Structure):
    """ChipTaskArgs of pto_orchestration_api.h."""

    _fields_ = [
        ("tensors", ctypes.POINTER(_Tensor)),
        ("scalars", ctypes.POINTER(ctypes.c_uint64)),
        ("runtime", ctypes.POINTER(_Runtime)),
    ]


class _Options(ctypes.Structure):
    """pto_tasks_options of TaskRuntime/CApi.h."""

    _fields_ = [
        ("cores", ctypes.c_uint32 * 4),
        ("window", ctypes.c_uint32),
        ("heap_bytes", ctypes.c_uint64),
        ("dependency_entries", ctypes.c_uint32),
        ("schedulers", ctypes.c_uint32),
        ("worker_threads", ctypes.c_uint32),
        ("virtual_time", ctypes.c_uint32),
        ("trace", ctypes.c_uint32),
        ("hang_ms", ctypes.c_uint32),
    ]


class _KernelCall(ctypes.Structure):
    """pto_kernel_call of TaskRuntime/CApi.h."""

    _fields_ = [
        ("args", ctypes.POINTER(ctypes.c_uint64)),
        ("num_args", ctypes.c_uint32),
        ("block", ctypes.c_uint32),
        ("num_blocks", ctypes.c_uint32),
        ("core", ctypes.c_uint32),
        ("task", ctypes.c_uint64),
    ]


_Body = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_KernelCall))


def read_config(folder) -> dict:
    """What `kernel_config.py` of a tree says, without executing it. ValueError for anything but literals."""
    file = Path(folder) / "kernel_config.py"
    found = {}
    try:
        for statement in ast.parse(file.read_text()).body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                found[statement.targets[0].id] = ast.literal_eval(statement.value)
    except (OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from None
    missing = [name for name in ("RUNTIME_CONFIG", "ORCHESTRATION", "ARGUMENTS", "KERNELS") if name not in found]
    if missing:
        raise ValueError(f"{file}: has no {', '.join(missing)}")
    return found


def kernel_files(folder, config):
    """(row, .pto) of each kernel that `kernel_config.py` lists, in the order of their numbers."""
    rows = sorted(config["KERNELS"], key=lambda row: row["func_id"])
    return [(row, Path(folder) / "ptoas" / f"{row.get('group') or Path(row['source']).stem}.pto") for row in rows]


def compile_orchestration(source, target):
    """The orchestration as a shared library. RuntimeError with the compiler's first error."""
    from pto_mlir.config import include_dir, library_dir

    compiler = os.environ.get("CXX") or next(filter(None, map(shutil.which, ("clang++", "clang++-19", "g++"))), None)
    if not compiler:
        raise RuntimeError("there is no C++ compiler; install g++ or set CXX")
    include = include_dir()
    command = [compiler, "-std=c++20", "-O1", "-fPIC", "-shared", f"-I{include}", f"-I{include / 'pto_orchestration'}"]
    command += ["-o", str(target), str(source), f"-L{library_dir()}", "-lpto_tasks", f"-Wl,-rpath,{library_dir()}"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        lines = done.stderr.splitlines()
        raise RuntimeError(next((line for line in lines if "error" in line), "the C++ compiler failed"))


class OrchestrationTree:
    """A tree that is ready to run: `tree(*arguments)` in the order of the orchestrator's parameters, outputs in place;
    tensors that it returns besides follow. Kernels come from ptoas/F.pto, but for those that `compiled` has by name
    (for tasks of both kinds of core, the group's): objects with a `name` and `run_words(words, blocks)`, which get what
    `kernel_entry` does.

    ValueError, RuntimeError for a tree that lacks files or does not compile; TypeError, ValueError for other arguments.
    """

    def __init__(self, folder, processor="", compiled=None):
        from pto_mlir.config import library_dir
        from pto_mlir.runtime import Kernel
        from pto_mlir.tools.native import program_output

        self.folder = Path(folder)
        self.config = read_config(folder)
        self._today = "signature" in self.config["ORCHESTRATION"]
        self._work = tempfile.TemporaryDirectory(prefix="pto_tree_")
        work = Path(self._work.name)
        library = work / "orchestration.so"
        compile_orchestration(self.folder / self.config["ORCHESTRATION"]["source"], library)
        self._tasks = ctypes.CDLL(str(library_dir() / "libpto_tasks.so"))
        self._tasks.pto_tasks_last_error.restype = ctypes.c_char_p
        self._entry = ctypes.CDLL(str(library))[self.config["ORCHESTRATION"]["function_name"]]
        self._kernels, self._queues, self._shapes = [], [], []
        for row, source in kernel_files(folder, self.config):
            name = source.stem
            if compiled and name in compiled:
                self._kernels.append(compiled[name])
            else:
                target = work / f"{name}.pmodel"
                if not source.is_file():
                    raise ValueError(f"{source}: no such file; kernel {name} was left out")
                chosen = ["--processor", processor] if processor else []
                program_output("pto-compile", [str(source), *chosen, "-o", str(target)])
                # What runs a task of both kinds of core is registered for each of its functions.
                self._kernels.append(Kernel(target) if "group" in row else Kernel(target, name))
            self._queues.append(row.get("queues", False))
            self._shapes.append({str(i): _tensor_type(each) for i, each in enumerate(row.get("shapes", []))})

    def __call__(self, *arguments):
        values = self._read(arguments)
        run = _Run(self._tasks, self._kernels, self._queues, self._shapes)
        try:
            run.execute(self._entry, values, self._today)
        finally:
            run.close()

    def _read(self, given):
        expected = self.config["ARGUMENTS"]
        if len(given) != len(expected):
            names = ", ".join(name for name, _, _ in expected)
            raise TypeError(f"the orchestration expects {len(expected)} arguments ({names}), not {len(given)}")
        values = {name: read(f"argument {name}", value) for (name, _, _), value in zip(expected, given, strict=True)}
        shapes = {name: value.shape for name, value in values.items() if isinstance(value, Buffer)}
        types = {name: _tensor_type(shape) for name, _, shape in expected}
        sizes = sizes_of("the orchestration", types, shapes)
        for name, dtype, shape in expected:
            wanted = [extent_of(each, sizes) for each in types[name].shape]
            held = (values[name].dtype.name, list(values[name].shape)) if name in shapes else (dtype, [])
            if held != (dtype, wanted):
                raise ValueError(f"argument {name}: compiled for {dtype} {list(shape)}, not {held[0]} {held[1]}")
        return [*values.values(), *(sizes[each] for each in self.config.get("EXTENTS", []))]


def _tensor_type(shape):
    """The type of a tensor with these extents, as kernel_config.py has them."""
    return ir.TensorType([restored(extent) for extent in shape], DataType.FP32)


class _Run:
    """One run: a task runtime with the kernels, and memory that lives until it ends."""

    def __init__(self, library, kernels, queues, shapes):
        self._library, self._memory, self._error = library, [], None
        self._tasks = ctypes.c_void_p()
        options = _Options(cores=(ctypes.c_uint32 * 4)(1, 2, 1, 0))
        self._check(library.pto_tasks_create(ctypes.byref(options), ctypes.byref(self._tasks)))
        self._bodies = [_Body(self._body(*each)) for each in zip(kernels, queues, shapes, strict=True)]
        self._ids = (ctypes.c_uint32 * max(1, len(kernels)))()
        for index, (kernel, body) in enumerate(zip(kernels, self._bodies, strict=True)):
            number = ctypes.c_uint32()
            self._check(
                library.pto_tasks_register_kernel(
                    self._tasks, kernel.name.encode(), body, None, ctypes.c_uint64(1000), ctypes.byref(number)
                )
            )
            self._ids[index] = number.value
        self._allocate = _Allocate(self._zeros)

    def _check(self, failed):
        if failed:
            raise RuntimeError(self._library.pto_tasks_last_error().decode())

    def _zeros(self, _, size):
        try:
            self._memory.append(np.zeros(size + 64, np.uint8))
        except (MemoryError, ValueError):  # more than there is, or than an address can say
            return None
        return self._memory[-1].ctypes.data

    def _body(self, kernel, has_queues, types):
        def body(_, called):
            try:
                call = called.contents
                table = ctypes.cast(call.args[call.num_args - 1], ctypes.POINTER(_Tensor))
                if hasattr(kernel, "run_words"):
                    if call.block == 0:
                        kernel.run_words(_entry_words(call, table), call.num_blocks)
                    return 0
                given = []
                for index in range(call.num_args - 1):
                    tensor = table[index]
                    given.append(tensor.array() if tensor.address else _word(call.args[index]))
                tensors = [each for each in given if isinstance(each, np.ndarray)]
                queues = [given.pop(len(tensors) - 1)] if has_queues else []  # behind all others for the kernel
                if types:
                    shapes = {name: each.shape for name, each in zip(types, tensors, strict=False)}
                    sizes = sizes_of(kernel.name, types, shapes)
                    given += [sizes[name] for name in open_names(types.values())]
                if call.block == 0:
                    kernel.run(*given, *queues, blocks=call.num_blocks)
            except Exception as error:  # a callback must not raise
                self._error = self._error or f"kernel {kernel.name}: {error}"
                return 1
            return 0

        return body

    def execute(self, entry, values, today):
        runtime = _Runtime(self._tasks, self._ids, len(self._bodies), self._allocate, None, 0, None)
        self._check(self._library.pto_tasks_begin(self._tasks))
        tensors = [_Tensor.of(f"argument {i}", each) for i, each in enumerate(values) if isinstance(each, Buffer)]
        words = [_bits(each) for each in values if not isinstance(each, Buffer)]
        if today:
            args = _ChipTaskArgs(
                (_Tensor * max(1, len(tensors)))(*tensors),
                (ctypes.c_uint64 * max(1, len(words)))(*words),
                ctypes.pointer(runtime),
            )
            entry(ctypes.byref(args))
        else:
            all_words = [each.data.ctypes.data if isinstance(each, Buffer) else _bits(each) for each in values]
            entry(ctypes.byref(runtime), (ctypes.c_uint64 * max(1, len(all_words)))(*all_words), len(all_words))
        failed = self._library.pto_tasks_finish(self._tasks)
        if self._error:
            raise RuntimeError(self._error)
        self._check(failed)
        if runtime.failed:
            reason = runtime.reason or self._library.pto_tasks_last_error()
            raise RuntimeError(f"the orchestration failed: {reason.decode()}")

    def close(self):
        self._library.pto_tasks_destroy(self._tasks)


def _bits(number) -> int:
    """A number as a word of a task: a float as f32."""
    if isinstance(number, float):
        return int(np.float32(number).view(np.uint32))
    return int(number) & (2**64 - 1)


def _entry_words(call, table):
    """The arguments of a task as `kernel_entry` reads them: addresses of `Tensor`s, numbers."""
    words = (ctypes.c_int64 * max(1, call.num_args - 1))()
    for index in range(call.num_args - 1):
        tensor = table[index]
        words[index] = ctypes.addressof(tensor) if tensor.address else _word(call.args[index])
    return words


def _word(bits) -> int:
    """A word as Kernel.run takes it: the bits, signed."""
    return bits - 2**64 if bits >= 2**63 else bits


__all__ = ["OrchestrationTree", "compile_orchestration", "kernel_files", "read_config"]

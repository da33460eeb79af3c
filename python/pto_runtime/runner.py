"""Loads kernels once, moves data explicitly, runs graphs."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pto_mlir._tasks import Runtime, TaskError
from pto_mlir.runtime import Kernel, RuntimeFailure

from .compiler import Binary
from .graph import Graph


class DeviceError(RuntimeError):
    """Why a run or a call failed, in one line. `code` is the runtime's error code, 0 for wrong use."""

    def __init__(self, message: str, code: int = 0):
        super().__init__(message)
        self.code = code


@dataclass(eq=False)
class DeviceBuffer:
    """A tensor on the device; the runner that made it copies to and from it."""

    array: np.ndarray
    freed: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype


_SCALAR, _INPUT = 0, 1


class DeviceRunner:
    """The simulated device: `init`, `register_kernel`, copies, `run`, `finalize`. Kernels are Python callables that get
    the task's arguments (numpy arrays of device memory and numbers), functions of a Binary, or kernels of a .pmodel."""

    def __init__(self):
        self._runtime: Runtime | None = None
        self._options: dict = {}
        self._kernels: list[Callable | Binary | Kernel] = []
        self._buffers: list[DeviceBuffer] = []

    def init(
        self,
        cube: int = 1,
        vector: int = 2,
        ai_cpu: int = 1,
        accelerator: int = 0,
        *,
        window: int = 16384,
        heap_bytes: int = 64 << 20,
        schedulers: int = 0,
        worker_threads: int = 0,
        virtual_time: bool = False,
        trace: bool = False,
        hang_ms: int = 60000,
    ) -> None:
        """Starts the control and core threads. The same call again does nothing; another configuration needs `finalize`
        first."""
        options: dict[str, Any] = dict(
            cores=[cube, vector, ai_cpu, accelerator],
            window=window,
            heap_bytes=heap_bytes,
            schedulers=schedulers,
            worker_threads=worker_threads,
            virtual_time=virtual_time,
            trace=trace,
            hang_ms=hang_ms,
        )
        if self._runtime is not None:
            if options != self._options:
                raise DeviceError("the device is initialised with another configuration; finalize it first")
            return
        try:
            self._runtime = Runtime(**options)
        except TaskError as error:
            raise DeviceError(str(error)) from None
        except (TypeError, OverflowError):
            raise DeviceError(f"init takes numbers that are not negative, got {options}") from None
        self._options = options

    def register_kernel(self, kernel, name: str | None = None, cost_ns: int = 1000) -> int:
        """A callable, a Binary or the path of any .pmodel (with `name` when it has several kernels). Returns the
        func_id for Graph.add_task. In virtual time a call takes `cost_ns`, or the integer that the callable returns.

        A kernel of a .pmodel takes its pointers as arrays and its scalars as numbers, each kind in the kernel's order;
        a task of several blocks is one launch on as many."""
        runtime = self._ready()
        try:
            if isinstance(kernel, str | Path):
                kernel = Kernel(kernel, name)
            if isinstance(kernel, Binary) and kernel.is_native:
                name = kernel.function_name(name)
                func_id = runtime.register_native(name, kernel.address(name), cost_ns)
            else:
                function = _function(kernel, name)
                if not callable(function):
                    raise DeviceError(
                        f"a kernel is a callable, a Binary or the path of a .pmodel, got {type(kernel).__name__}"
                    )
                label = str(name or getattr(kernel, "__name__", None) or getattr(kernel, "name", "kernel"))
                func_id = runtime.register_kernel(
                    label, lambda args, block, blocks, core: _call(function, args, block, blocks), cost_ns
                )
        except (TaskError, ValueError, RuntimeFailure) as error:
            raise DeviceError(str(error)) from None
        self._kernels.append(kernel)  # keeps the library loaded
        return func_id

    def alloc(self, shape, dtype="float32") -> DeviceBuffer:
        """Device memory, zeros."""
        self._ready()
        self._buffers.append(DeviceBuffer(np.zeros(shape, dtype)))
        return self._buffers[-1]

    def free(self, buffer: DeviceBuffer) -> None:
        self._live(buffer)
        buffer.freed = True
        self._buffers = [other for other in self._buffers if other is not buffer]

    def copy_to_device(self, data, buffer: DeviceBuffer | None = None) -> DeviceBuffer:
        """Copies an array into a buffer of its shape and type, by default a new one."""
        data = np.asarray(data)
        if buffer is None:
            buffer = self.alloc(data.shape, data.dtype)
        self._live(buffer)
        if (buffer.shape, buffer.dtype) != (data.shape, data.dtype):
            raise DeviceError(f"the buffer is {buffer.dtype} {buffer.shape}, the data {data.dtype} {data.shape}")
        buffer.array[...] = data
        return buffer

    def copy_from_device(self, buffer: DeviceBuffer) -> np.ndarray:
        self._live(buffer)
        return buffer.array.copy()

    copyToDevice = copy_to_device
    copyFromDevice = copy_from_device

    def run(self, graph: Graph) -> int:
        """Runs the graph to completion and returns 0. DeviceError names the task that failed and why; the device stays
        usable."""
        runtime = self._ready()
        try:
            order = graph.order()
        except ValueError as error:
            raise DeviceError(str(error)) from None
        producers: list[list[int]] = [[] for _ in graph.tasks]
        for number, task in enumerate(graph.tasks):
            if task.func_id >= len(self._kernels):
                raise DeviceError(
                    f"task {graph.describe(number)}: there is no kernel {task.func_id}, {len(self._kernels)} are "
                    f"registered"
                )
            for successor in task.successors:
                producers[successor].append(number)
        prepared = [self._arguments(graph, number) for number in range(len(graph.tasks))]
        ids = [0] * len(graph.tasks)
        try:
            runtime.begin()
            try:
                for number in order:
                    task, (words, payload) = graph.tasks[number], prepared[number]
                    after = [ids[producer] for producer in producers[number]]
                    ids[number], _ = runtime.submit(
                        task.func_id, int(task.core_type), words, payload, after, task.blocks, False, task.name
                    )
            finally:
                runtime.finish()
        except TaskError as error:
            raise DeviceError(str(error), runtime.error_code()) from None
        return 0

    def handshake(self) -> list[dict]:
        """The handshake record of every core."""
        return self._ready().handshake()

    def print_handshake_results(self) -> None:
        for row in self.handshake():
            print(
                "core {core:3d} {core_type:<12s} aicpu_ready={aicpu_ready} aicore_done={aicore_done} control={control} "
                "task_status={task_status} tasks={tasks}".format(**row)
            )

    def statistics(self) -> dict:
        return self._ready().statistics()

    def report(self) -> str:
        """Critical path, idle share and top kernels of the last run; needs init(trace=True)."""
        self._traced()
        return self._ready().report()

    def makespan_ns(self) -> int:
        self._traced()
        return self._ready().makespan_ns()

    def write_trace(self, path: str | Path) -> None:
        """The last run for Perfetto; needs init(trace=True)."""
        self._traced()
        try:
            self._ready().write_trace(str(path))
        except TaskError as error:
            raise DeviceError(str(error)) from None

    def finalize(self) -> None:
        """Ends the threads and frees the buffers. A device that was not initialised is fine."""
        self._runtime, self._options = None, {}
        self._kernels.clear()
        for buffer in self._buffers:
            buffer.freed = True
        self._buffers.clear()

    def _ready(self) -> Runtime:
        if self._runtime is None:
            raise DeviceError("the device is not initialised; call init first")
        return self._runtime

    def _traced(self) -> None:
        self._ready()
        if not self._options["trace"]:
            raise DeviceError("no trace is kept; call init(trace=True)")

    def _live(self, buffer: DeviceBuffer) -> None:
        self._ready()
        if not isinstance(buffer, DeviceBuffer):
            raise DeviceError(f"expects a DeviceBuffer, got {type(buffer).__name__}")
        if buffer.freed:
            raise DeviceError("the buffer was freed")

    def _arguments(self, graph: Graph, number: int) -> tuple[list[tuple], list]:
        """Words for the runtime and values for a Python kernel. Edges are explicit, so every word is a scalar to the
        runtime."""
        task = graph.tasks[number]
        words: list[tuple] = []
        values: list = []
        elements = None
        for index, value in enumerate(task.args):
            where = f"task {graph.describe(number)}, argument {index}"
            if isinstance(value, DeviceBuffer):
                if value.freed:
                    raise DeviceError(f"{where}: the buffer was freed")
                value = value.array
            if isinstance(value, np.ndarray):
                if isinstance(self._kernels[task.func_id], Binary | Kernel) and not value.flags.c_contiguous:
                    raise DeviceError(f"{where}: a compiled kernel reads dense arrays, this one is strided")
                elements = value.size if elements is None else elements
                word = value.ctypes.data
            elif isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
                raise DeviceError(f"{where}: expects an array, a DeviceBuffer or a number, got {type(value).__name__}")
            else:
                word = _word(value, where)
            words.append((_SCALAR, word, 1, [], [], 0))
            values.append(value)
        words.append((_SCALAR, elements or 0, 1, [], [], 0))  # the uniform ABI ends with the number of elements
        return words, values


def _word(value, where: str) -> int:
    """The bits of a number as a 64-bit word: numpy scalars in their own width, a Python float as f32, an int as i64."""
    if isinstance(value, (np.integer, np.floating)):
        return int.from_bytes(value.tobytes().ljust(8, b"\0"), "little")
    if isinstance(value, float):
        return struct.unpack("<I", np.float32(value).tobytes())[0]
    if not -(1 << 63) <= value < 1 << 64:
        raise DeviceError(f"{where}: {value} does not fit into 64 bits")
    return value & ((1 << 64) - 1)


def _function(kernel, name: str | None):
    """What a worker calls for a kernel that is no machine code."""
    if isinstance(kernel, Binary):
        return kernel.callable(name)
    if not isinstance(kernel, Kernel):
        return kernel

    def launch(*args, block: int = 0, blocks: int = 1) -> None:
        if block == 0:
            kernel.run(*args, blocks=blocks)

    return launch


def _call(function: Callable, args: list, block: int, blocks: int):
    return function(*args) if blocks == 1 else function(*args, block=block, blocks=blocks)

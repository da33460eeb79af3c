"""Running a .pmodel, with onnxruntime's manners:

    session = InferenceSession("cls.pmodel")
    probabilities, = session.run(None, {"x": image})

The model is opened, checked and loaded once; a run starts no process and copies only inputs and outputs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .errors import UserError

_ORT_NAMES = {
    "f32": "float",
    "f16": "float16",
    "bf16": "bfloat16",
    "f64": "double",
    "boolean": "bool",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
    "i4": "int4",
    "u4": "uint4",
    "i2": "int2",
    "u2": "uint2",
    "f8E4M3FN": "float8e4m3fn",
    "f8E4M3FNUZ": "float8e4m3fnuz",
    "f8E5M2": "float8e5m2",
    "f8E5M2FNUZ": "float8e5m2fnuz",
    "f8E8M0": "float8e8m0",
    "f4E2M1": "float4e2m1",
    "string": "string",
}


_NARROW_FLOATS = (
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    "float4_e2m1fn",
)
_NARROW_INTEGERS = ("int2", "uint2", "int4", "uint4")


class RuntimeFailure(UserError, RuntimeError):
    """The file, the device or a kernel failed."""


class InvalidArgument(UserError, ValueError):
    """A feed or an output name that does not fit the model; the text says what is expected."""


@dataclass(frozen=True)
class NodeArg:
    """An input or output: `type` as onnxruntime writes it, e.g. tensor(float). A size that a run says is None."""

    name: str
    shape: list[int | None]
    type: str


def _native():
    try:
        from . import _runtime
    except ImportError as error:
        raise RuntimeFailure(f"the runtime cannot be loaded: {error}") from None
    return _runtime


def _node_args(infos) -> list[NodeArg]:
    return [
        NodeArg(name, [size or None for size in shape], f"tensor({_ORT_NAMES.get(kind, kind)})")
        for name, shape, kind in infos
    ]


def _array(name: str, value) -> np.ndarray:
    array = np.asarray(value)
    # Types of ml_dtypes, which numpy lacks: bits of floats; a byte for each integer of 2 or 4 bits.
    if array.dtype.name == "bfloat16":
        array = array.view(np.uint16)
    elif array.dtype.name in _NARROW_FLOATS:
        array = array.view(np.uint8)
    elif array.dtype.name in _NARROW_INTEGERS:
        array = array.astype(np.uint8 if array.dtype.name.startswith("u") else np.int8)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise InvalidArgument(f"input '{name}': arrays of type {array.dtype} are not supported")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array if array.flags.c_contiguous else array.copy(order="C")


def _text(name: str, value) -> np.ndarray | None:
    """An input of strings, which is str or bytes or an array of them; None for others."""
    array = value if isinstance(value, np.ndarray) else np.array(value, object)
    if array is not value and not (array.size and all(isinstance(text, str | bytes) for text in array.flat)):
        try:
            array = np.asarray(value)
        except ValueError as error:  # lists of unequal lengths
            raise InvalidArgument(f"input '{name}': {error}") from None
    return array if array.dtype.kind in "OUST" else None


def _strings(name: str, array: np.ndarray) -> tuple[str, tuple[int, ...], list[bytes]]:
    """Name, shape and elements in UTF-8; bytes stay as they are."""
    elements = [text.encode(errors="surrogateescape") if isinstance(text, str) else text for text in array.flat]
    for text in elements:
        if not isinstance(text, bytes):
            raise InvalidArgument(f"input '{name}': arrays of objects hold strings, not {type(text).__name__}")
    return name, array.shape, elements


def _result(value) -> np.ndarray:
    """What the native runtime returns: strings as an array of objects; bytes that are not UTF-8 as Python escapes
    them."""
    if not isinstance(value, tuple):
        return value
    shape, elements = value
    array = np.empty(len(elements), object)
    array[:] = [text.decode(errors="surrogateescape") for text in elements]
    return array.reshape(shape)


class InferenceSession:
    """A net of a .pmodel that is ready to run.

    device: "cmodel" or the path of a device plug-in; threads: host threads that simulate cores, 0 = all; net: which net
    when the file has several. mode: "functional"; "timing" or "timing:TRACE" also counts cycles (profile) and may write
    a Perfetto trace; "checked" fails a run whose kernels race or read what nobody wrote; "shuffled:SEED" lets engines
    take turns at random. schedule: "tasks" goes through the task runtime, where launches that share no memory may
    overlap (functional and timing mode); in timing mode in virtual time, on a chip of `blocks` blocks, one cube core
    and two vector cores each. "in-order" runs one launch after the other. trace: keep what write_trace needs of the
    last run.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        *,
        device: str = "cmodel",
        threads: int = 0,
        mode: str = "functional",
        net: str = "",
        schedule: str = "tasks",
        trace: bool = False,
        blocks: int = 24,
    ):
        native = _native()
        if not isinstance(threads, int) or not 0 <= threads <= 4096:
            raise InvalidArgument(f"threads: expects 0 to 4096, got {threads!r}")
        if not isinstance(blocks, int) or not 1 <= blocks <= 128:
            raise InvalidArgument(f"blocks: expects 1 to 128, got {blocks!r}")
        if schedule not in ("tasks", "in-order"):
            raise InvalidArgument(f"schedule: expects 'tasks' or 'in-order', got {schedule!r}")
        try:
            self._session = native.Session(
                os.fspath(path), device, mode, threads, net, schedule == "in-order", trace, blocks
            )
        except native.RuntimeFailure as error:
            raise RuntimeFailure(str(error)) from None

    def get_inputs(self) -> list[NodeArg]:
        return _node_args(self._session.inputs())

    def get_outputs(self) -> list[NodeArg]:
        return _node_args(self._session.outputs())

    def run(
        self, output_names: Sequence[str] | None, feed: Mapping[str, np.ndarray], state: State | None = None
    ) -> list[np.ndarray]:
        """The named outputs (None: all) in order. Types and shapes must match the model's exactly, as in
        onnxruntime. For types that numpy lacks: bfloat16 and float8 come as their bits (uint16, uint8), int4, uint4,
        int2 and uint2 as int8 and uint8; feeds are such arrays, or arrays of ml_dtypes. Strings are arrays of str or
        bytes objects, or of numpy's text types; they come as arrays of str objects. A model with state reads and
        updates `state`, by default one that the session has for itself."""
        return [array for _, array in self._run(list(output_names or []), feed, False, state)]

    def run_with_debug(self, feed: Mapping[str, np.ndarray], state: State | None = None) -> dict[str, np.ndarray]:
        """All outputs, and every tensor that a --debug build keeps, in ONNX's layout, by name."""
        return dict(self._run([], feed, True, state))

    def run_in_place(
        self, tensors: Mapping[str, np.ndarray], shapes: Mapping[str, Sequence[int]] | None = None
    ) -> None:
        """Runs a model whose inputs and outputs all lie in dense arrays of the caller, by name: outputs are written
        into them. Elements that a PyPTO program does not write keep their value. Only the bytes are looked at, and
        where the program leaves extents to the run the shape: that of `shapes`, else of the array."""
        memory = []
        for name, array in tensors.items():
            if not array.flags.c_contiguous:
                raise InvalidArgument(f"'{name}': must be dense, this array is strided")
            memory.append((name, array.ctypes.data, array.nbytes, (shapes or {}).get(name, array.shape)))
        _call(self._session.run_in_place, memory)

    @property
    def has_state(self) -> bool:
        """Whether the model has state."""
        return self._session.has_state()

    def new_state(self) -> State:
        """A state at position 0, for `run`. A session may have any number of them, each for one run at a time."""
        return State(_call(self._session.new_state))

    def profile(self, reset: bool = False) -> dict:
        """What running cost since the session began (or the last reset): launches, instructions, bytes of global
        memory, seconds.

        In timing mode also the device's cycles and seconds, and of each engine the cycles in which it was busy and in
        which it waited.
        """
        return self._session.profile(reset)

    def profile_kernels(self, reset: bool = False) -> list[dict]:
        """As profile, one entry per kernel with its name, in the file's order."""
        return self._session.profile_kernels(reset)

    def keep_windows(self, keeps: bool) -> None:
        """Whether windows of a program of several ranks keep what they hold from one run to the next; else they are
        zero when a run begins."""
        self._session.keep_windows(keeps)

    def watch_launches(self, seen: Callable[[int, bool, list[bytes]], None] | None) -> None:
        """Calls `seen` in later runs in place of a program of several ranks: with the number of each launch, whether it
        has ended or is about to begin, and the bytes of each pointer that it gets. None: no more."""
        self._session.watch_launches(seen)

    def write_trace(self, path: str | os.PathLike) -> None:
        """Writes the last run for Perfetto or chrome://tracing: each core's tasks, dependencies as flows, queue
        depths."""
        _call(self._session.write_trace, os.fspath(path))

    def trace_report(self) -> str:
        """The last run's critical path, idle cores and longest kernels, as text."""
        return _call(self._session.trace_report)

    def info(self) -> dict:
        """Facts about the net: processor, quantisation, pre-processing, absorbed names, host ops, whether runs are
        traced."""
        return self._session.info()

    def _run(self, names, feed, debug, state):
        if not isinstance(feed, Mapping):
            raise InvalidArgument(f"the feed must map input names to arrays, got {type(feed).__name__}")
        texts, pairs = [], []
        for name, value in feed.items():
            if (array := _text(str(name), value)) is not None:
                texts.append(_strings(str(name), array))
            else:
                pairs.append((str(name), _array(str(name), value)))
        if state is not None and not isinstance(state, State):
            raise InvalidArgument(f"state: expects what new_state returned, got {type(state).__name__}")
        results = _call(self._session.run, names, pairs, texts, debug, state and state._state)
        return [(name, _result(value)) for name, value in results]


@dataclass(frozen=True)
class StateTensor:
    """A tensor of a state: its name, the name of its new value in the model, type, shape, and the axis of positions;
    None where every run replaces the whole tensor."""

    name: str
    output: str
    type: str
    shape: list[int]
    sequence_axis: int | None


class State:
    """What a model remembers from run to run, for example the keys and values of one sequence. Made by
    `InferenceSession.new_state`. A use of a state while a run uses it is an error."""

    def __init__(self, native):
        self._state = native

    @property
    def position(self) -> int:
        """Positions that runs have added."""
        return self._state.position()

    def truncate(self, position: int) -> None:
        """Goes back to `position`, at most the present one; later runs write what is behind it again. With tensors
        that every run replaces, only 0 and the present position are allowed."""
        _call(self._state.truncate, _checked(position))

    def reset(self) -> None:
        """Position 0, and every tensor its initial value."""
        _call(self._state.reset)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the tensors by name, and the position as "state.position", as safetensors."""
        _call(self._state.save, os.fspath(path))

    def load(self, path: str | os.PathLike) -> None:
        """Reads what `save` wrote for the same tensors; a failure changes nothing."""
        _call(self._state.load, os.fspath(path))

    def fork(self) -> State:
        """A second state with the same contents."""
        return State(_call(self._state.fork))

    def info(self) -> list[StateTensor]:
        return [
            StateTensor(name, output, kind, shape, axis if axis >= 0 else None)
            for name, output, kind, shape, axis in self._state.info()
        ]

    def tensors(self) -> dict[str, np.ndarray]:
        """A copy of every tensor, as stored."""
        return dict(_call(self._state.tensors))

    def assign(self, tensors: Mapping[str, np.ndarray], position: int) -> None:
        """Sets every tensor and the position; a failure changes nothing."""
        _call(self._state.assign, [(name, _array(name, value)) for name, value in tensors.items()], _checked(position))


def _checked(position: int) -> int:
    if not isinstance(position, int | np.integer) or not 0 <= position < 2**63:
        raise InvalidArgument(f"position: expects an integer that is not negative, got {position!r}")
    return int(position)


def _call(function, *args):
    """Calls the native runtime, whose errors become those of this module."""
    native = _native()
    try:
        return function(*args)
    except native.InvalidArgument as error:
        raise InvalidArgument(str(error)) from None
    except native.RuntimeFailure as error:
        raise RuntimeFailure(str(error)) from None


class Kernel:
    """One kernel of any .pmodel (of a model, of pto-compile, of the builder), loaded once:

        scale = Kernel("x.pmodel", "scale")
        scale.run(x, y, 0.5)

    name: may be left out when the file has one kernel. device, mode, threads: as of InferenceSession. Threads may share
    a kernel; its launches take turns.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        name: str | None = None,
        *,
        device: str = "cmodel",
        mode: str = "functional",
        threads: int = 0,
    ):
        native = _native()
        if not isinstance(threads, int) or not 0 <= threads <= 4096:
            raise InvalidArgument(f"threads: expects 0 to 4096, got {threads!r}")
        try:
            self._kernel = native.Kernel(os.fspath(path), name or "", device, mode, threads)
        except native.RuntimeFailure as error:
            raise RuntimeFailure(str(error)) from None
        self.name: str = self._kernel.name()
        self._writes: list[bool] = self._kernel.writes()
        self.pointers = len(self._writes)  # arrays that `run` takes

    def run(self, *args, blocks: int = 0) -> None:
        """Launches once and waits. `args` are arrays for the kernel's pointers and numbers for its scalars, each kind
        in the kernel's order; results are written into the arrays. A Python float or a numpy float of any width becomes
        the bits of an f32, which is how kernels hold f16 and bf16 scalars as well. blocks 0: as many as the file says.
        """
        memory, scalars, count = [], [], 0
        for index, value in enumerate(args):
            where = f"kernel '{self.name}', argument {index}"
            if isinstance(value, np.ndarray):
                memory.append(self._memory(where, value, count))
                count += 1
            else:
                scalars.append(_scalar_word(where, value))
        try:
            self._kernel.run(memory, scalars, blocks)
        except _native().RuntimeFailure as error:
            raise RuntimeFailure(str(error)) from None

    def profile(self) -> dict:
        """As InferenceSession.profile, since the kernel was loaded."""
        return self._kernel.profile()

    def _memory(self, where: str, array: np.ndarray, number: int) -> tuple[int, int]:
        if not array.flags.c_contiguous:
            raise InvalidArgument(f"{where}: a kernel reads dense arrays, this one is strided")
        if number < len(self._writes) and self._writes[number] and not array.flags.writeable:
            raise InvalidArgument(f"{where}: the kernel writes it, but the array is read-only")
        return array.ctypes.data, array.nbytes


def _scalar_word(where: str, value) -> int:
    """A scalar as a kernel receives it: an integer, or the bits of an f32."""
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        word = int(value)
        if not -(1 << 63) <= word < 1 << 64:
            raise InvalidArgument(f"{where}: {word} does not fit into 64 bits")
        return word - (1 << 64) if word >= 1 << 63 else word
    if not isinstance(value, (float, np.number)):
        # Scalars of bf16 are of a type that numpy does not know.
        if not isinstance(value, np.generic) or value.dtype.kind != "V":
            raise InvalidArgument(f"{where}: expects an array or a number, got {type(value).__name__}")
    return int(np.float32(value).view(np.uint32))

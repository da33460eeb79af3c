"""ChipWorker: programs that are kept ready on a device, and tensors that stay there; Worker: what all workers have."""

import ctypes

import numpy as np

from pypto.ir.compiled_program import CompiledProgram
from pypto.jit.arguments import array_type, element_type, read
from pypto.pypto_core import DataType


class DeviceTensor:
    """A tensor of a worker, usable wherever a tensor is passed: `shape`, `dtype`."""

    def __init__(self, worker, array, dtype):
        self.shape, self.dtype = tuple(array.shape), dtype
        self._worker, self._array = worker, array

    @property
    def data_ptr(self):
        """The address of its memory, for copies by address."""
        return self.held("data_ptr").ctypes.data

    @property
    def nbytes(self):
        return self.held("nbytes").nbytes

    def held(self, where):
        """The memory. ValueError after it was freed."""
        if self._array is None:
            raise ValueError(f"{where}: the DeviceTensor was freed")
        return self._array


class RegistrationHandle:
    """A registered program: `handle(*args)` runs it. `compiled`: the program; `closed`: whether its worker is."""

    def __init__(self, worker, compiled):
        self._worker, self.compiled = worker, compiled

    @property
    def closed(self):
        return self._worker.closed

    def __call__(self, *args, **keywords):
        return self._worker.run(self.compiled, *args, **keywords)


class Worker:
    """What programs run on, as a context manager or closed by hand: it keeps tensors that programs share. RuntimeError
    for use after close, ValueError for tensors of another worker."""

    def __init__(self):
        self._owned_tensors, self.closed = [], False

    def __enter__(self):
        self._open("with")
        return self

    def __exit__(self, *_):
        self.close()

    def _open(self, where):
        if self.closed:
            raise RuntimeError(f"{type(self).__name__}.{where} called after close")

    def _check_owner(self, values):
        for value in values:
            if isinstance(value, DeviceTensor) and value._worker is not self:
                raise ValueError("the DeviceTensor belongs to another worker")

    def alloc_tensor(self, shape, dtype, init=None) -> DeviceTensor:
        """A tensor of the worker; `dtype`: a DataType, or torch's or numpy's. Begins with `init`, else with zeros."""
        self._open("alloc_tensor")
        kind = dtype if isinstance(dtype, DataType) else element_type(_name(dtype), "alloc_tensor")
        try:
            array = np.zeros(tuple(shape), np.dtype(array_type(kind.name)))
        except (TypeError, ValueError, MemoryError) as error:
            kinds = (TypeError, ValueError, MemoryError)
            kind = next(each for each in kinds if isinstance(error, each))  # numpy has subclasses of its own
            raise kind(f"alloc_tensor: {shape!r} is no shape of a tensor: {error}") from None
        if init is not None:
            given = read("alloc_tensor: init", init)
            if given.shape != array.shape or given.dtype != kind:
                expected = f"{list(array.shape)} of {kind.name}"
                raise ValueError(
                    f"alloc_tensor: init: expects {expected}, not {list(given.shape)} of {given.dtype.name}"
                )
            array.view(np.uint8).reshape(-1)[:] = given.data.view(np.uint8).reshape(-1)
        self._owned_tensors.append(DeviceTensor(self, array, kind))
        return self._owned_tensors[-1]

    def free_tensor(self, tensor):
        if not isinstance(tensor, DeviceTensor):
            raise TypeError(f"free_tensor: expects a DeviceTensor, not {type(tensor).__name__}")
        tensor.held("free_tensor")
        self._check_owner([tensor])
        tensor._array = None
        self._owned_tensors = [each for each in self._owned_tensors if each is not tensor]

    def copy_from(self, host, device, count):
        """Copies bytes of a tensor of the worker to an address of the host."""
        ctypes.memmove(_address("copy_from", host), self._inside("copy_from", device, count), count)

    def copy_to(self, device, host, count):
        """Copies bytes from an address of the host into a tensor of the worker."""
        ctypes.memmove(self._inside("copy_to", device, count), _address("copy_to", host), count)

    def _inside(self, where, address, count):
        """The address, if all bytes lie in one tensor of the worker. ValueError otherwise."""
        self._open(where)
        for number in (address, count):
            if not isinstance(number, int):
                raise TypeError(f"{where}: expects an address and a number of bytes, not {number!r}")
        for each in self._owned_tensors:
            array = each._array
            if array is not None and count >= 0 and 0 <= address - array.ctypes.data <= array.nbytes - count:
                return address
        raise ValueError(f"{where}: {count} bytes at {address:#x} are in no tensor of the worker")

    def close(self):
        for tensor in self._owned_tensors:
            tensor._array = None
        self._owned_tensors, self.closed = [], True


class ChipWorker(Worker):
    """A device that programs run on; there is one runtime, whatever the name. ValueError for other levels than 2."""

    def __init__(self, config=None, *, level=2, runtime=None):
        from pypto.runtime import RunConfig

        if level != 2:
            raise ValueError(f"level: expects 2, not {level!r}")
        super().__init__()
        self.config = config or RunConfig()
        self.aicpu_dlopen_count = 0
        self._programs = []

    def register(self, compiled) -> RegistrationHandle:
        self._open("register")
        if not isinstance(compiled, CompiledProgram):
            raise TypeError(f"register: expects a CompiledProgram, not {type(compiled).__name__}")
        if not any(each is compiled for each in self._programs):
            self._programs.append(compiled)
            self.aicpu_dlopen_count += 1
        return RegistrationHandle(self, compiled)

    def run(self, compiled, *args, **keywords):
        """Runs a program, registered or not; its outputs are written in place."""
        self.register(compiled)
        self._check_owner([*args, *keywords.values()])
        return compiled(*args, **keywords)

    def close(self):
        super().close()
        self._programs = []


def _address(where, host):
    if not isinstance(host, int) or host <= 0:
        raise ValueError(f"{where}: {host!r} is no address of the host")
    return host


def _name(dtype):
    """numpy's or torch's name of an element type."""
    text = str(dtype)
    return text.removeprefix("torch.") if text.startswith("torch.") else np.dtype(dtype).name

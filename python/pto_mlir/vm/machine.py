"""The machine that runs bytecode modules with kernels from Python."""

from collections.abc import Callable

import numpy as np

from .. import _vm
from .bytecode import ByteCodeModule, VMError
from .kernels import KernelRegistry, device_kernels


class VM:
    """A module with its kernels resolved, ready to run.

    `kernels` finds or builds each kernel once, when the machine is made; a kernel that nobody knows is a VMError that
    names it. `rodata` holds the external tensors by name; their bytes are used where they lie. `print` gets the lines
    that programs print. What a program launches are tasks on `threads` host threads (0: each launch runs at once):
    those of two queues overlap wherever a kernel lets other threads of Python run, as numpy's loops over large arrays
    and waiting for files do.
    """

    def __init__(
        self,
        module: ByteCodeModule,
        kernels: KernelRegistry | None = None,
        rodata: dict[str, np.ndarray] | None = None,
        print: Callable[[str], None] = print,
        max_jumps: int = 0,
        threads: int = 2,
    ):
        if module.target != "python":
            raise VMError(f"the program is for target '{module.target}', this machine is for 'python'")
        if not isinstance(threads, int) or not 0 <= threads <= 64:
            raise VMError(f"threads: expects 0 to 64, got {threads!r}")
        registry = kernels or device_kernels(print)
        self.module = module
        self._machine = _vm.Machine(module.native, registry.resolve, dict(rodata or {}), print, max_jumps, threads)

    def run(self, *arguments, function: str | None = None, trace: Callable[[str], None] | None = None) -> list:
        """Runs the entry, or the named function: numbers and arrays in, a list of results out. Raises VMError with the
        place."""
        self._machine.trace(trace)
        return self._machine.run(function or self.module.native.functions[0], *arguments)

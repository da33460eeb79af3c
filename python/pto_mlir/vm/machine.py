"""The machine that runs bytecode modules with kernels from Python."""

from collections.abc import Callable

import numpy as np

from .. import _vm
from .bytecode import ByteCodeModule, VMError
from .kernels import KernelRegistry, device_kernels


class VM:
    """A module with its kernels resolved, ready to run.

    `kernels` finds or builds each kernel once, when the machine is made; a kernel that nobody knows is a VMError that names it.
    `rodata` holds the external tensors by name; their bytes are used where they lie. `print` gets the lines that programs print.
    """

    def __init__(self, module: ByteCodeModule, kernels: KernelRegistry | None = None, rodata: dict[str, np.ndarray] | None = None,
                 print: Callable[[str], None] = print, max_jumps: int = 0):  # fmt: skip
        if module.target != "python":
            raise VMError(f"the program is for target '{module.target}', this machine is for 'python'")
        registry = kernels or device_kernels(print)
        self.module = module
        self._machine = _vm.Machine(module.native, registry.resolve, dict(rodata or {}), print, max_jumps)

    def run(self, *arguments, function: str | None = None, trace: Callable[[str], None] | None = None) -> list:
        """Runs the entry, or the named function: numbers and arrays in, a list of results out. Raises VMError with the place."""
        self._machine.trace(trace)
        return self._machine.run(function or self.module.native.functions[0], *arguments)

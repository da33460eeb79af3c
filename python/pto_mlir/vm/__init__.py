"""VM programs: bytecode modules, and a machine that runs them with kernels written in Python.

    module = assemble(text)
    VM(module).run(...)

docs/vm.md describes the instructions and the text form.
"""

from .bytecode import ByteCodeModule, OpCode, TypeCode, VMError, assemble
from .kernels import KernelRegistry, device_kernels
from .machine import VM

__all__ = ["VM", "ByteCodeModule", "KernelRegistry", "OpCode", "TypeCode", "VMError", "assemble", "device_kernels"]

"""VM programs: bytecode modules, and a machine that runs them with kernels written in Python.

    module = ByteCodeConverter(text_in_the_vm_dialect).convert()  # or assemble(text)
    VM(module).run(...)

docs/vm.md describes the instructions and the text form.
"""

from .bytecode import ByteCodeConverter, ByteCodeModule, OpCode, TypeCode, VMError, assemble
from .kernels import KernelRegistry, device_kernels
from .machine import VM

__all__ = [
    "VM",
    "ByteCodeConverter",
    "ByteCodeModule",
    "KernelRegistry",
    "OpCode",
    "TypeCode",
    "VMError",
    "assemble",
    "device_kernels",
]

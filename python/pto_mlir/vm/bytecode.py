"""Bytecode modules and how they are made: from text, from bytes, from MLIR in the vm dialect."""

import enum

from .. import _vm
from ..tools.native import program_output

VMError = _vm.VMError
OpCode = enum.IntEnum("OpCode", _vm.opcodes())  # type: ignore[misc]  # the members are the native table's rows
LDC = OpCode["ldc"]
TypeCode = enum.IntEnum("TypeCode", {"scalar": 1, "tensor": 2})


class ByteCodeModule:
    """A verified program: `consts`, `code`, `target`, `variable_size`.

    `code` is one flat list of opcodes and their operands. Large tensors among the constants show as their type.
    """

    def __init__(self, module: "_vm.Module"):
        self.native = module
        self.consts: list = module.consts
        self.target: str = module.target
        self.variable_size: int = module.variable_size
        self.byte_size: int = module.byte_size
        self.code: list = []
        for opcode, operands in module.instructions:
            self.code.append(OpCode(opcode))
            if opcode == LDC:
                operands[0] = TypeCode(operands[0])
            self.code.extend(operands)

    def __repr__(self) -> str:
        return self.native.listing()

    def __eq__(self, other) -> bool:
        return isinstance(other, ByteCodeModule) and self.native == other.native

    def disassemble(self) -> str:
        """The text form; `assemble` reads it back to an equal module."""
        return self.native.disassemble()

    def to_bytes(self) -> bytes:
        return self.native.to_bytes()

    @staticmethod
    def from_bytes(data: bytes) -> "ByteCodeModule":
        """Verifies and reads what `to_bytes` wrote. Raises VMError."""
        return ByteCodeModule(_vm.from_bytes(data))


def assemble(text: str) -> ByteCodeModule:
    """Verifies and reads the text form. Raises VMError with the line or the instruction."""
    return ByteCodeModule(_vm.assemble(text))


class ByteCodeConverter:
    """Turns MLIR in the vm dialect (its text, or a path that ends in .mlir) into a ByteCodeModule.

    `passes` run first, such as "convert-tosa-to-vm". Slots are numbered one per value, constants included, as the
    format's first description does, unless `reuse_slots` shares them by liveness.
    """

    def __init__(self, module: str, target: str = "python", passes: tuple[str, ...] = (), reuse_slots: bool = False):
        self.module, self.target, self.passes, self.reuse_slots = module, target, passes, reuse_slots

    def convert(self) -> ByteCodeModule:
        """Raises UserError with the compiler's words when the module does not convert."""
        is_file = self.module.endswith(".mlir") and "\n" not in self.module
        arguments = ["--vm-to-bytecode", self.module if is_file else "-", "--target", self.target]
        arguments += ["--reuse-slots"] if self.reuse_slots else []
        arguments += ["--passes", ",".join(self.passes)] if self.passes else []
        return assemble(program_output("pto-opt", arguments, None if is_file else self.module))

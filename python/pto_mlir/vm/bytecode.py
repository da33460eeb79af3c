"""Bytecode modules and how they are made: from text, from bytes."""

import enum

from .. import _vm

VMError = _vm.VMError
OpCode = enum.IntEnum("OpCode", _vm.opcodes())
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
            if opcode == OpCode.ldc:
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

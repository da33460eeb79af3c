// VM instructions and their encoding (docs/vm.md; list in Opcodes.def).
#ifndef PTO_MLIR_BYTECODE_CODE_H
#define PTO_MLIR_BYTECODE_CODE_H

#include "pto_mlir/ByteCode/Size.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pto_mlir::bytecode {

enum class Opcode : uint8_t {
#define PTO_VM_OPCODE(NAME, CODE, MNEMONIC, OPERANDS) NAME = CODE,
#include "pto_mlir/ByteCode/Opcodes.def"
};

/// The meaning of an operand letter.
enum class OperandKind : char {
#define PTO_VM_OPERAND(LETTER, KIND, FIELD) KIND = LETTER,
#include "pto_mlir/ByteCode/Opcodes.def"
};

/// A row of Opcodes.def.
struct OpcodeRow {
  Opcode opcode;
  std::string_view mnemonic;
  std::string_view operands; // one letter each; Operands.h reads them

  bool has(OperandKind kind) const { return operands.find(static_cast<char>(kind)) != std::string_view::npos; }
};
/// The row of an opcode.
const OpcodeRow &opcodeRow(Opcode opcode);
/// The row of an opcode's number or mnemonic; null for a reserved or unknown one.
const OpcodeRow *findOpcode(uint8_t code);
const OpcodeRow *findOpcode(std::string_view mnemonic);

/// Kind of constant read by `ldc`; printed as TypeCode in listings.
enum class TypeCode : uint8_t { Scalar = 1, Tensor = 2 };

/// A pointer argument of a kernel: `bytes` bytes at `offset` in the buffer in `slot`.
struct BufferArgument {
  uint32_t slot = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// One instruction; the operands of its opcode select the valid fields (PTO_VM_OPERAND in Opcodes.def).
struct Instruction {
  Opcode opcode = Opcode::Return;
  uint32_t slot = 0;
  uint32_t type = 0;
  uint32_t index = 0; // of a constant, a branch target or a function
  uint8_t typeCode = 0;
  int64_t value = 0;
  uint64_t bytes = 0;
  uint32_t kernel = 0;
  uint32_t hostOp = 0;
  std::vector<BufferArgument> arguments;
  std::vector<uint32_t> slots;
  std::vector<Size> scalars;
  uint64_t position = 0; // byte of the opcode in the code
};

/// Appends the bytes of an instruction.
void encode(const Instruction &instruction, std::vector<uint8_t> &code);

/// Decodes the instruction at `position` and advances it. Fails on an unknown opcode or a malformed number; the failure
/// names the byte offset.
Result<Instruction> decode(const std::vector<uint8_t> &code, uint64_t &position);
/// Decodes all instructions.
Result<std::vector<Instruction>> decodeAll(const std::vector<uint8_t> &code);

/// An access to a slot: the opcode of the general form (iload, istore, fload, ..) and the slot.
struct SlotAccess {
  Opcode family;
  uint32_t slot;
};
/// The slot access of any form (iload 2, iload_2); nullopt for other instructions.
std::optional<SlotAccess> slotAccess(const Instruction &instruction);
/// The shortest encoding of a slot access: iload_2 rather than iload 2.
Instruction makeSlotAccess(Opcode family, uint32_t slot);

} // namespace pto_mlir::bytecode

#endif

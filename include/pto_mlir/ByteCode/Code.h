// VM instructions and their encoding. docs/vm.md describes them, Opcodes.def lists them.
#ifndef PTO_MLIR_BYTECODE_CODE_H
#define PTO_MLIR_BYTECODE_CODE_H

#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pto_mlir::bytecode {

enum class Opcode : uint8_t {
#define PTO_VM_OPCODE(NAME, CODE, MNEMONIC, OPERANDS) NAME = CODE,
#include "pto_mlir/ByteCode/Opcodes.def"
#undef PTO_VM_OPCODE
};

/// A row of Opcodes.def.
struct OpcodeRow {
  Opcode opcode;
  std::string_view mnemonic;
  std::string_view operands; // one letter each
};
/// The row of a byte; null for a reserved one.
const OpcodeRow *findOpcode(uint8_t code);
const OpcodeRow *findOpcode(std::string_view mnemonic);

/// Which pool `ldc` reads: the seed of the format prints these as TypeCode.
enum class TypeCode : uint8_t { Scalar = 1, Tensor = 2 };

/// A pointer argument of a kernel: `bytes` bytes from `offset` in the buffer that `slot` holds.
struct BufferArgument {
  uint32_t slot = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// One instruction; which fields count is said by the opcode's operand letters.
struct Instruction {
  Opcode opcode = Opcode::Return;
  uint32_t slot = 0;    // s
  uint32_t type = 0;    // t
  uint32_t index = 0;   // c, j, f
  uint8_t typeCode = 0; // y
  int64_t value = 0;    // n, p
  uint64_t bytes = 0;
  uint32_t kernel = 0;
  uint32_t hostOp = 0;
  std::vector<BufferArgument> arguments;
  std::vector<uint32_t> slots;
  uint64_t position = 0; // byte of the opcode in the code
};

/// Appends the bytes of an instruction.
void encode(const Instruction &instruction, std::vector<uint8_t> &code);

/// Decodes one instruction at `position` and moves on. Fails with the byte on an unknown opcode or a bad number.
Result<Instruction> decode(const std::vector<uint8_t> &code, uint64_t &position);
/// Decodes everything.
Result<std::vector<Instruction>> decodeAll(const std::vector<uint8_t> &code);

/// iload / istore / fload / ..: the family's first opcode (the form with an operand) and the slot, for any form.
struct SlotAccess {
  Opcode family;
  uint32_t slot;
};
std::optional<SlotAccess> slotAccess(const Instruction &instruction);
/// The shortest form of a family's access: iload_2 rather than iload 2.
Instruction makeSlotAccess(Opcode family, uint32_t slot);

} // namespace pto_mlir::bytecode

#endif

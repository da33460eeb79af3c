#include "pto_mlir/ByteCode/Code.h"

#include "pto_mlir/ByteCode/Leb128.h"

#include <array>

namespace pto_mlir::bytecode {

namespace {

constexpr OpcodeRow rows[] = {
#define PTO_VM_OPCODE(NAME, CODE, MNEMONIC, OPERANDS) {Opcode::NAME, MNEMONIC, OPERANDS},
#include "pto_mlir/ByteCode/Opcodes.def"
#undef PTO_VM_OPCODE
};

/// Rows by opcode, for constant-time lookup.
constexpr std::array<const OpcodeRow *, 256> rowOfByte = [] {
  std::array<const OpcodeRow *, 256> table = {};
  for (const OpcodeRow &row : rows)
    table[static_cast<uint8_t>(row.opcode)] = &row;
  return table;
}();

uint64_t zigzag(int64_t value) { return (uint64_t(value) << 1) ^ uint64_t(value >> 63); }
int64_t unzigzag(uint64_t value) { return int64_t(value >> 1) ^ -int64_t(value & 1); }

/// Reads numbers and records the first failure, so that the decoder needs no check per operand.
class Cursor {
public:
  Cursor(const std::vector<uint8_t> &code, uint64_t &position) : code(code), position(position) {}
  bool failed = false;

  uint64_t wide() {
    auto value = readLeb128(code, position);
    if (!value)
      failed = true;
    return value.value_or(0);
  }
  uint32_t narrow() {
    uint64_t value = wide();
    if (value > UINT32_MAX)
      failed = true;
    return static_cast<uint32_t>(value);
  }
  /// A count of elements of at least `minBytes` bytes each; rejects counts that exceed the remaining code, so that a
  /// forged count reserves no memory.
  uint32_t count(uint64_t minBytes) {
    uint32_t value = narrow();
    if (uint64_t(value) * minBytes > code.size() - position)
      failed = true;
    return failed ? 0 : value;
  }

private:
  const std::vector<uint8_t> &code;
  uint64_t &position;
};

void readOperand(char operand, Cursor &cursor, Instruction &insn) {
  switch (operand) {
  case 's':
    insn.slot = cursor.narrow();
    break;
  case 'n':
    insn.value = unzigzag(cursor.wide());
    break;
  case 'p':
    insn.value = cursor.narrow();
    break;
  case 't':
    insn.type = cursor.narrow();
    break;
  case 'y': {
    uint32_t code = cursor.narrow();
    if (code != uint32_t(TypeCode::Scalar) && code != uint32_t(TypeCode::Tensor))
      cursor.failed = true;
    insn.typeCode = static_cast<uint8_t>(code);
    break;
  }
  case 'c':
  case 'j':
  case 'f':
    insn.index = cursor.narrow();
    break;
  case 'b':
    insn.bytes = cursor.wide();
    break;
  case 'k':
    insn.kernel = cursor.narrow();
    break;
  case 'h':
    insn.hostOp = cursor.narrow();
    break;
  case 'a':
    insn.arguments.resize(cursor.count(3));
    for (BufferArgument &argument : insn.arguments) {
      argument.slot = cursor.narrow();
      argument.offset = cursor.wide();
      argument.bytes = cursor.wide();
    }
    break;
  case 'l':
    insn.slots.resize(cursor.count(1));
    for (uint32_t &slot : insn.slots)
      slot = cursor.narrow();
    break;
  }
}

} // namespace

const OpcodeRow *findOpcode(uint8_t code) { return rowOfByte[code]; }

const OpcodeRow *findOpcode(std::string_view mnemonic) {
  for (const OpcodeRow &row : rows)
    if (row.mnemonic == mnemonic)
      return &row;
  return nullptr;
}

void encode(const Instruction &instruction, std::vector<uint8_t> &code) {
  const OpcodeRow *row = findOpcode(static_cast<uint8_t>(instruction.opcode));
  code.push_back(static_cast<uint8_t>(instruction.opcode));
  for (char operand : row->operands) {
    switch (operand) {
    case 's':
      writeLeb128(code, instruction.slot);
      break;
    case 'n':
      writeLeb128(code, zigzag(instruction.value));
      break;
    case 'p':
      writeLeb128(code, uint64_t(instruction.value));
      break;
    case 't':
      writeLeb128(code, instruction.type);
      break;
    case 'y':
      writeLeb128(code, instruction.typeCode);
      break;
    case 'c':
    case 'j':
    case 'f':
      writeLeb128(code, instruction.index);
      break;
    case 'b':
      writeLeb128(code, instruction.bytes);
      break;
    case 'k':
      writeLeb128(code, instruction.kernel);
      break;
    case 'h':
      writeLeb128(code, instruction.hostOp);
      break;
    case 'a':
      writeLeb128(code, instruction.arguments.size());
      for (const BufferArgument &argument : instruction.arguments) {
        writeLeb128(code, argument.slot);
        writeLeb128(code, argument.offset);
        writeLeb128(code, argument.bytes);
      }
      break;
    case 'l':
      writeLeb128(code, instruction.slots.size());
      for (uint32_t slot : instruction.slots)
        writeLeb128(code, slot);
      break;
    }
  }
}

Result<Instruction> decode(const std::vector<uint8_t> &code, uint64_t &position) {
  Instruction insn;
  insn.position = position;
  std::string where = "byte " + std::to_string(position) + ": ";
  uint8_t byte = code[position++];
  const OpcodeRow *row = findOpcode(byte);
  if (!row)
    return Failure{where + "unknown opcode " + std::to_string(byte)};
  insn.opcode = row->opcode;
  Cursor cursor(code, position);
  for (char operand : row->operands)
    readOperand(operand, cursor, insn);
  if (cursor.failed)
    return Failure{where + "bad operand of " + std::string(row->mnemonic)};
  return insn;
}

Result<std::vector<Instruction>> decodeAll(const std::vector<uint8_t> &code) {
  std::vector<Instruction> program;
  for (uint64_t position = 0; position < code.size();) {
    auto insn = decode(code, position);
    if (!insn)
      return insn.failure();
    program.push_back(insn.take());
  }
  return program;
}

std::optional<SlotAccess> slotAccess(const Instruction &instruction) {
  constexpr Opcode families[] = {Opcode::ILoad,  Opcode::IStore, Opcode::FLoad,
                                 Opcode::FStore, Opcode::ALoad,  Opcode::AStore};
  auto code = static_cast<uint8_t>(instruction.opcode);
  for (Opcode family : families) {
    auto first = static_cast<uint8_t>(family); // followed by its short forms 0 to 3
    if (code == first)
      return SlotAccess{family, instruction.slot};
    if (code > first && code <= first + 4)
      return SlotAccess{family, uint32_t(code - first - 1)};
  }
  return std::nullopt;
}

Instruction makeSlotAccess(Opcode family, uint32_t slot) {
  Instruction insn;
  insn.opcode = slot < 4 ? static_cast<Opcode>(static_cast<uint8_t>(family) + 1 + slot) : family;
  insn.slot = slot < 4 ? 0 : slot;
  return insn;
}

} // namespace pto_mlir::bytecode

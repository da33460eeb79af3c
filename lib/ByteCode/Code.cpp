#include "pto_mlir/ByteCode/Code.h"

#include "pto_mlir/ByteCode/Leb128.h"
#include "pto_mlir/ByteCode/Operands.h"

#include <algorithm>
#include <array>

namespace pto_mlir::bytecode {

namespace {

constexpr OpcodeRow rows[] = {
#define PTO_VM_OPCODE(NAME, CODE, MNEMONIC, OPERANDS) {Opcode::NAME, MNEMONIC, OPERANDS},
#include "pto_mlir/ByteCode/Opcodes.def"
};

/// Rows by opcode, for constant-time lookup.
constexpr std::array<const OpcodeRow *, 256> rowOfByte = [] {
  std::array<const OpcodeRow *, 256> table = {};
  for (const OpcodeRow &row : rows)
    table[static_cast<uint8_t>(row.opcode)] = &row;
  return table;
}();

constexpr char operandLetters[] = {
#define PTO_VM_OPERAND(LETTER, KIND, FIELD) LETTER,
#include "pto_mlir/ByteCode/Opcodes.def"
};
static_assert(std::ranges::all_of(rows,
                                  [](const OpcodeRow &row) {
                                    std::string_view letters(operandLetters, std::size(operandLetters));
                                    return row.operands.find_first_not_of(letters) == std::string_view::npos;
                                  }),
              "an opcode has an operand letter without a PTO_VM_OPERAND");

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

/// Decodes each operand by the type of its field, or by its kind where that says more.
struct OperandReader {
  Cursor &cursor;

  template <class Kind> void operator()(Kind, uint32_t &field) { field = cursor.narrow(); }
  template <class Kind> void operator()(Kind, uint64_t &field) { field = cursor.wide(); }
  void operator()(Operand<OperandKind::Signed>, int64_t &field) { field = unzigzag(cursor.wide()); }
  void operator()(Operand<OperandKind::Number>, int64_t &field) { field = cursor.narrow(); }
  void operator()(Operand<OperandKind::ConstantKind>, uint8_t &field) {
    uint32_t code = cursor.narrow();
    if (code != uint32_t(TypeCode::Scalar) && code != uint32_t(TypeCode::Tensor))
      cursor.failed = true;
    field = static_cast<uint8_t>(code);
  }
  void operator()(Operand<OperandKind::Arguments>, std::vector<BufferArgument> &field) {
    field.resize(cursor.count(3));
    for (BufferArgument &argument : field) {
      argument.slot = cursor.narrow();
      argument.offset = cursor.wide();
      argument.bytes = cursor.wide();
    }
  }
  void operator()(Operand<OperandKind::Sizes>, std::vector<Size> &field) {
    field.resize(cursor.count(1));
    for (Size &size : field) {
      size.terms.resize(cursor.count(2));
      for (SizeTerm &term : size.terms) {
        term.coefficient = unzigzag(cursor.wide());
        term.symbols.resize(cursor.count(1));
        for (uint32_t &symbol : term.symbols)
          symbol = cursor.narrow();
      }
    }
  }
  void operator()(Operand<OperandKind::Slots>, std::vector<uint32_t> &field) {
    field.resize(cursor.count(1));
    for (uint32_t &slot : field)
      slot = cursor.narrow();
  }
};

/// The inverse of OperandReader.
struct OperandWriter {
  std::vector<uint8_t> &code;

  template <class Kind, class Field> void operator()(Kind, Field field) { writeLeb128(code, uint64_t(field)); }
  void operator()(Operand<OperandKind::Signed>, int64_t field) { writeLeb128(code, zigzag(field)); }
  void operator()(Operand<OperandKind::Arguments>, const std::vector<BufferArgument> &field) {
    writeLeb128(code, field.size());
    for (const BufferArgument &argument : field) {
      writeLeb128(code, argument.slot);
      writeLeb128(code, argument.offset);
      writeLeb128(code, argument.bytes);
    }
  }
  void operator()(Operand<OperandKind::Sizes>, const std::vector<Size> &field) {
    writeLeb128(code, field.size());
    for (const Size &size : field) {
      writeLeb128(code, size.terms.size());
      for (const SizeTerm &term : size.terms) {
        writeLeb128(code, zigzag(term.coefficient));
        writeLeb128(code, term.symbols.size());
        for (uint32_t symbol : term.symbols)
          writeLeb128(code, symbol);
      }
    }
  }
  void operator()(Operand<OperandKind::Slots>, const std::vector<uint32_t> &field) {
    writeLeb128(code, field.size());
    for (uint32_t slot : field)
      writeLeb128(code, slot);
  }
};

} // namespace

const OpcodeRow &opcodeRow(Opcode opcode) { return *rowOfByte[static_cast<uint8_t>(opcode)]; }

const OpcodeRow *findOpcode(uint8_t code) { return rowOfByte[code]; }

const OpcodeRow *findOpcode(std::string_view mnemonic) {
  for (const OpcodeRow &row : rows)
    if (row.mnemonic == mnemonic)
      return &row;
  return nullptr;
}

void encode(const Instruction &instruction, std::vector<uint8_t> &code) {
  code.push_back(static_cast<uint8_t>(instruction.opcode));
  visitOperands(instruction, OperandWriter{code});
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
  visitOperands(insn, OperandReader{cursor});
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

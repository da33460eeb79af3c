#include "pto_mlir/PModel/Program.h"

#include "Leb128.h"
#include "VMOpcodeTable.h"

namespace pto_mlir::pmodel {

void ProgramWriter::number(uint64_t value) { writeLeb128(code, value); }

void ProgramWriter::append(const VMInstruction &instruction) {
  const VMOpcodeRow *row = findVMOpcode(static_cast<uint8_t>(instruction.opcode));
  code.push_back(row->code);
  for (char operand : row->operands) {
    switch (operand) {
    case 's':
      number(instruction.slot);
      break;
    case 'b':
      number(instruction.bytes);
      break;
    case 'k':
      number(instruction.kernel);
      break;
    case 'h':
      number(instruction.hostOp);
      break;
    case 'a':
      number(instruction.arguments.size());
      for (const VMArgument &argument : instruction.arguments) {
        number(argument.slot);
        number(argument.offset);
        number(argument.bytes);
      }
      break;
    case 'l':
      number(instruction.slots.size());
      for (uint32_t slot : instruction.slots)
        number(slot);
      break;
    }
  }
}

void ProgramWriter::alloc(uint32_t slot, uint64_t bytes) {
  VMInstruction insn;
  insn.opcode = VMOpcode::Alloc;
  insn.slot = slot;
  insn.bytes = bytes;
  append(insn);
}

void ProgramWriter::free(uint32_t slot) {
  VMInstruction insn;
  insn.opcode = VMOpcode::Free;
  insn.slot = slot;
  append(insn);
}

void ProgramWriter::callDevice(uint32_t kernel, const std::vector<VMArgument> &arguments) {
  VMInstruction insn;
  insn.opcode = VMOpcode::CallDevice;
  insn.kernel = kernel;
  insn.arguments = arguments;
  append(insn);
}

void ProgramWriter::callHost(uint32_t hostOpConstant, const std::vector<uint32_t> &slots) {
  VMInstruction insn;
  insn.opcode = VMOpcode::CallHost;
  insn.hostOp = hostOpConstant;
  insn.slots = slots;
  append(insn);
}

void ProgramWriter::wait() {
  VMInstruction insn;
  insn.opcode = VMOpcode::Wait;
  append(insn);
}

void ProgramWriter::ret() { append(VMInstruction()); }

namespace {

/// Reads numbers; remembers the first failure so that the decoder stays a list of operands.
class Cursor {
public:
  explicit Cursor(const std::vector<uint8_t> &code) : code(code) {}

  uint64_t position = 0;
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
  /// A count of things that take at least `minBytes` bytes each, so that a forged count reserves no memory.
  uint32_t count(uint64_t minBytes) {
    uint32_t value = narrow();
    if (uint64_t(value) * minBytes > code.size() - position)
      failed = true;
    return failed ? 0 : value;
  }

private:
  const std::vector<uint8_t> &code;
};

void readOperand(char operand, Cursor &cursor, VMInstruction &insn) {
  switch (operand) {
  case 's':
    insn.slot = cursor.narrow();
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
    for (VMArgument &argument : insn.arguments) {
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

Result<std::vector<VMInstruction>> decodeProgram(const std::vector<uint8_t> &code) {
  std::vector<VMInstruction> program;
  Cursor cursor(code);
  while (cursor.position < code.size()) {
    VMInstruction insn;
    insn.position = cursor.position;
    uint8_t byte = code[cursor.position++];
    const VMOpcodeRow *row = findVMOpcode(byte);
    std::string where = "byte " + std::to_string(insn.position) + ": ";
    if (!row)
      return Failure{where + "unknown opcode " + std::to_string(byte)};
    insn.opcode = static_cast<VMOpcode>(byte);
    for (char operand : row->operands)
      readOperand(operand, cursor, insn);
    if (cursor.failed)
      return Failure{where + "bad operand of " + std::string(row->mnemonic)};
    bool last = insn.opcode == VMOpcode::Return;
    if (last != (cursor.position == code.size()))
      return Failure{where + (last ? "code after return" : "program ends without return")};
    program.push_back(std::move(insn));
  }
  if (program.empty())
    return Failure{"program is empty"};
  return program;
}

} // namespace pto_mlir::pmodel

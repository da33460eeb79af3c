#include "pto_mlir/PModel/Program.h"

namespace pto_mlir::pmodel {

void ProgramWriter::append(const VMInstruction &instruction) { bytecode::encode(instruction, code); }

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

void ProgramWriter::callDevice(uint32_t kernel, const std::vector<VMArgument> &arguments,
                               const std::vector<bytecode::Size> &scalars) {
  VMInstruction insn;
  insn.opcode = scalars.empty() ? VMOpcode::CallDevice : VMOpcode::CallDeviceScalars;
  insn.scalars = scalars;
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

Result<std::vector<VMInstruction>> decodeProgram(const std::vector<uint8_t> &code) {
  std::vector<VMInstruction> program;
  for (uint64_t position = 0; position < code.size();) {
    auto insn = bytecode::decode(code, position);
    if (!insn)
      return insn.failure();
    bool last = insn->opcode == VMOpcode::Return;
    if (last != (position == code.size()))
      return Failure{"byte " + std::to_string(insn->position) + ": " +
                     (last ? "code after return" : "program ends without return")};
    program.push_back(insn.take());
  }
  if (program.empty())
    return Failure{"program is empty"};
  return program;
}

} // namespace pto_mlir::pmodel

// Disassembly of net programs and kernels.
#include "pto_mlir/PModel/Program.h"

namespace pto_mlir::pmodel {

namespace {

std::string slotName(uint32_t slot, const EntrySlots &entry) {
  if (slot < entry.numInputs)
    return "in" + std::to_string(slot);
  if (slot < entry.weights())
    return "out" + std::to_string(slot - entry.numInputs);
  if (slot == entry.weights())
    return "weights";
  return "s" + std::to_string(slot);
}

std::string kernelName(uint32_t index, const ModelDesc &model, const ProgramDesc &program) {
  if (index < program.kernels.size() && program.kernels[index] < model.kernels.size())
    return model.kernels[program.kernels[index]].name;
  return "<kernel " + std::to_string(index) + ">";
}

} // namespace

std::string disassembleProgram(const ModelDesc &model, const VariantDesc &variant) {
  const ProgramDesc &program = variant.program;
  auto instructions = decodeProgram(program.code);
  if (!instructions)
    return "<" + instructions.error() + ">\n";
  EntrySlots entry(variant);
  std::string text;
  size_t launch = 0;
  for (const VMInstruction &insn : *instructions) {
    const bytecode::OpcodeRow *row = bytecode::findOpcode(static_cast<uint8_t>(insn.opcode));
    std::string position = std::to_string(insn.position);
    text +=
        std::string(position.size() < 6 ? 6 - position.size() : 0, ' ') + position + "  " + std::string(row->mnemonic);
    std::string separator = " ";
    auto operand = [&](const std::string &value) {
      text += separator + value;
      separator = ", ";
    };
    for (char letter : row->operands) {
      switch (letter) {
      case 's':
        operand(slotName(insn.slot, entry));
        break;
      case 'b':
        operand(std::to_string(insn.bytes));
        break;
      case 'k':
        operand(kernelName(insn.kernel, model, program));
        break;
      default: // not used by net programs
        operand("?");
        break;
      case 'h':
        operand("const" + std::to_string(insn.hostOp));
        break;
      case 'a':
        for (const VMArgument &argument : insn.arguments)
          operand(slotName(argument.slot, entry) + "[" + std::to_string(argument.offset) + " +" +
                  std::to_string(argument.bytes) + "]");
        break;
      case 'l':
        for (uint32_t slot : insn.slots)
          operand(slotName(slot, entry));
        break;
      }
    }
    if (insn.opcode == VMOpcode::CallDevice && launch++ < program.launchOps.size() &&
        !program.launchOps[launch - 1].empty())
      text += " // " + program.launchOps[launch - 1];
    text += "\n";
  }
  return text;
}

} // namespace pto_mlir::pmodel

// Disassembly of net programs and kernels.
#include "pto_mlir/ByteCode/Operands.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/PModel/Sizes.h"

namespace pto_mlir::pmodel {

namespace {

using bytecode::Operand;
using bytecode::OperandKind;

std::string slotName(uint32_t slot, const EntrySlots &entry) {
  if (slot < entry.numInputs)
    return "in" + std::to_string(slot);
  if (slot < entry.weights())
    return "out" + std::to_string(slot - entry.numInputs);
  if (slot == entry.weights())
    return "weights";
  if (entry.hasState && slot == entry.state())
    return "state";
  return "s" + std::to_string(slot);
}

std::string kernelName(uint32_t index, const ModelDesc &model, const ProgramDesc &program) {
  if (index < program.kernels.size() && program.kernels[index] < model.kernels.size())
    return model.kernels[program.kernels[index]].name;
  return "<kernel " + std::to_string(index) + ">";
}

/// Appends each operand to `text`. The verifier of programs lets only instructions on buffers pass, so that other kinds
/// of operand do not occur.
struct OperandPrinter {
  const ModelDesc &model;
  const ProgramDesc &program;
  const EntrySlots &entry;
  const std::vector<std::string> &symbols;
  std::string text, separator = " ";

  void add(const std::string &value) {
    text += separator + value;
    separator = ", ";
  }
  template <class Kind, class Field> void operator()(Kind, const Field &) { add("?"); }
  void operator()(Operand<OperandKind::Slot>, uint32_t slot) { add(slotName(slot, entry)); }
  void operator()(Operand<OperandKind::Bytes>, uint64_t bytes) { add(std::to_string(bytes)); }
  void operator()(Operand<OperandKind::Kernel>, uint32_t kernel) { add(kernelName(kernel, model, program)); }
  void operator()(Operand<OperandKind::HostOp>, uint32_t hostOp) { add("const" + std::to_string(hostOp)); }
  void operator()(Operand<OperandKind::Arguments>, const std::vector<VMArgument> &arguments) {
    for (const VMArgument &argument : arguments)
      add(slotName(argument.slot, entry) + "[" + std::to_string(argument.offset) + " +" +
          std::to_string(argument.bytes) + "]");
  }
  void operator()(Operand<OperandKind::Sizes>, const std::vector<bytecode::Size> &sizes) {
    text += bytecode::sizesText(sizes, symbols);
  }
  void operator()(Operand<OperandKind::Slots>, const std::vector<uint32_t> &slots) {
    for (uint32_t slot : slots)
      add(slotName(slot, entry));
  }
};

} // namespace

std::string disassembleProgram(const ModelDesc &model, const VariantDesc &variant) {
  const ProgramDesc &program = variant.program;
  auto instructions = decodeProgram(program.code);
  if (!instructions)
    return "<" + instructions.error() + ">\n";
  EntrySlots entry(variant);
  std::string text;
  std::vector<std::string> symbols = symbolNames(variant);
  size_t launch = 0;
  for (const VMInstruction &insn : *instructions) {
    std::string position = std::to_string(insn.position);
    text += std::string(position.size() < 6 ? 6 - position.size() : 0, ' ') + position + "  " +
            std::string(bytecode::opcodeRow(insn.opcode).mnemonic);
    OperandPrinter printer{model, program, entry, symbols};
    visitOperands(insn, printer);
    text += printer.text;
    if (isLaunch(insn) && launch < program.ranks.size())
      text += " on rank " + std::to_string(program.ranks[launch]);
    if (isLaunch(insn) && launch++ < program.launchOps.size() && !program.launchOps[launch - 1].empty())
      text += " // " + program.launchOps[launch - 1];
    text += "\n";
  }
  return text;
}

} // namespace pto_mlir::pmodel

// Programs of nets: writer, decoder, disassembler. docs/pmodel-format.md describes them; the instructions are the VM's
// (ByteCode/Code.h).
#ifndef PTO_MLIR_PMODEL_PROGRAM_H
#define PTO_MLIR_PMODEL_PROGRAM_H

#include "pto_mlir/ByteCode/Code.h"
#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pto_mlir::pmodel {

using VMOpcode = bytecode::Opcode;
using VMArgument = bytecode::BufferArgument;
using VMInstruction = bytecode::Instruction;

/// Slot numbering at entry: inputs from 0, then outputs, then the weights section, then the group of state if the net
/// has one; the remaining slots are free.
struct EntrySlots {
  explicit EntrySlots(const VariantDesc &variant)
      : EntrySlots(variant.inputs.size(), variant.outputs.size(), variant.state.has_value()) {}
  EntrySlots(uint32_t numInputs, uint32_t numOutputs, bool hasState = false)
      : numInputs(numInputs), numOutputs(numOutputs), hasState(hasState) {}
  uint32_t input(uint32_t i) const { return i; }
  uint32_t output(uint32_t i) const { return numInputs + i; }
  uint32_t weights() const { return numInputs + numOutputs; }
  uint32_t state() const { return weights() + 1; } // if `hasState`
  uint32_t firstFree() const { return weights() + 1 + hasState; }
  uint32_t numInputs, numOutputs;
  bool hasState;
};

/// Emits bytecode, one call per instruction. The first `alloc` of a program is the workspace.
class ProgramWriter {
public:
  void alloc(uint32_t slot, uint64_t bytes);
  void free(uint32_t slot);
  /// A launch; with scalars it is another instruction.
  void callDevice(uint32_t kernel, const std::vector<VMArgument> &arguments,
                  const std::vector<bytecode::Size> &scalars = {});
  void callHost(uint32_t hostOpConstant, const std::vector<uint32_t> &slots);
  void wait();
  void ret();
  /// Re-encodes a decoded instruction.
  void append(const VMInstruction &instruction);

  std::vector<uint8_t> take() { return std::move(code); }

private:
  std::vector<uint8_t> code;
};

/// Whether the instruction launches a kernel, with or without scalars.
inline bool isLaunch(const VMInstruction &insn) {
  return insn.opcode == VMOpcode::CallDevice || insn.opcode == VMOpcode::CallDeviceScalars;
}

/// Decodes `code`; fails on an unknown opcode, a bad number, or code that does not end with `return` alone at the end.
Result<std::vector<VMInstruction>> decodeProgram(const std::vector<uint8_t> &code);

/// One line per instruction: "   12  call_device k3_conv, in0[0:1024], w[64:128]".
std::string disassembleProgram(const ModelDesc &model, const VariantDesc &variant);

/// The commands of a kernel, engine by engine, one line each.
std::string disassembleKernel(const KernelDesc &kernel);

} // namespace pto_mlir::pmodel

#endif

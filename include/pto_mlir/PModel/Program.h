// VM bytecode: assembler, decoder, disassembler. docs/pmodel-format.md describes it, VMOpcodes.def lists it.
#ifndef PTO_MLIR_PMODEL_PROGRAM_H
#define PTO_MLIR_PMODEL_PROGRAM_H

#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pto_mlir::pmodel {

enum class VMOpcode : uint8_t {
#define PTO_VM_OPCODE(NAME, CODE, MNEMONIC, OPERANDS) NAME = CODE,
#include "pto_mlir/PModel/VMOpcodes.def"
#undef PTO_VM_OPCODE
};

/// A pointer argument of a kernel: `bytes` bytes from `offset` in the buffer that `slot` holds.
struct VMArgument {
  uint32_t slot = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// One instruction; which fields count is said by the opcode's operand letters.
struct VMInstruction {
  VMOpcode opcode = VMOpcode::Return;
  uint32_t slot = 0;
  uint64_t bytes = 0;
  uint32_t kernel = 0;
  uint32_t hostOp = 0;
  std::vector<VMArgument> arguments;
  std::vector<uint32_t> slots;
  uint64_t position = 0; // byte of the opcode in the code
};

/// Slots that are bound at entry: inputs 0.., then outputs, then the weights section, then free ones.
struct EntrySlots {
  explicit EntrySlots(const VariantDesc &variant)
      : numInputs(variant.inputs.size()), numOutputs(variant.outputs.size()) {}
  EntrySlots(uint32_t numInputs, uint32_t numOutputs) : numInputs(numInputs), numOutputs(numOutputs) {}
  uint32_t input(uint32_t i) const { return i; }
  uint32_t output(uint32_t i) const { return numInputs + i; }
  uint32_t weights() const { return numInputs + numOutputs; }
  uint32_t firstFree() const { return numInputs + numOutputs + 1; }
  uint32_t numInputs, numOutputs;
};

/// Writes bytecode, one call per instruction. The workspace is the first `alloc` of a program.
class ProgramWriter {
public:
  void alloc(uint32_t slot, uint64_t bytes);
  void free(uint32_t slot);
  void callDevice(uint32_t kernel, const std::vector<VMArgument> &arguments);
  void callHost(uint32_t hostOpConstant, const std::vector<uint32_t> &slots);
  void wait();
  void ret();
  /// Writes a decoded instruction back.
  void append(const VMInstruction &instruction);

  std::vector<uint8_t> take() { return std::move(code); }

private:
  void number(uint64_t value);
  std::vector<uint8_t> code;
};

/// Decodes `code`; fails on an unknown opcode, a bad number, or code that does not end with `return` alone at the end.
Result<std::vector<VMInstruction>> decodeProgram(const std::vector<uint8_t> &code);

/// One line per instruction: "   12  call_device k3_conv, in0[0:1024], w[64:128]".
std::string disassembleProgram(const ModelDesc &model, const VariantDesc &variant);

/// The commands of a kernel, engine by engine, one line each.
std::string disassembleKernel(const KernelDesc &kernel);

} // namespace pto_mlir::pmodel

#endif

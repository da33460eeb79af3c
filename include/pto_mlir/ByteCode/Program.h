// A verified program, decoded for execution.
#ifndef PTO_MLIR_BYTECODE_PROGRAM_H
#define PTO_MLIR_BYTECODE_PROGRAM_H

#include "pto_mlir/ByteCode/Module.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pto_mlir::bytecode {

/// One decoded instruction: slots and targets resolved, types reduced to a width.
struct Step {
  Opcode opcode = Opcode::Nop; // loads and stores in the general form, constants as IConst
  uint8_t width = 0;           // bits of the integer or float the instruction computes with
  Kind kind = Kind::Integer;   // of its operand: pop, dup, select; of the source for conv
  Kind kind2 = Kind::Integer;  // of the second one: swap; of the target for conv
  uint32_t a = 0;              // slot, target, constant, function, type, dimension
  int64_t b = 0;               // value, predicate, queue, rank
};

/// A verified and decoded function.
struct LoadedFunction {
  std::vector<Step> steps;  // one per instruction, and a return at the end
  std::vector<Kind> slots;  // kind of each slot
  uint32_t numberDepth = 0; // of the operand stacks
  uint32_t tensorDepth = 0;
};

/// A verified module. Execution relies on the verified properties without checks.
class Program {
public:
  /// Checks types, constants, signatures and every instruction on every path: indices, operand types, branch targets,
  /// slots written before they are read, the same stack on every way to an instruction, no way past the end that leaves
  /// results. Failures name the function, the instruction and, with debug information, its source.
  static Result<Program> load(Module module);

  const Module &module() const { return *source; }
  const std::vector<LoadedFunction> &functions() const { return loaded; }
  /// A failure with the position of the instruction that caused it.
  Failure failureAt(uint32_t function, uint32_t instruction, const std::string &reason) const;

private:
  std::shared_ptr<const Module> source;
  std::vector<LoadedFunction> loaded;
};

} // namespace pto_mlir::bytecode

#endif

//===- Verify.h - Is a command stream legal? ------------------------------===//

#ifndef PTO_MLIR_ISA_VERIFY_H
#define PTO_MLIR_ISA_VERIFY_H

#include "pto_mlir/ISA/Codec.h"

namespace pto_mlir::isa {

/// What is wrong with a stream, and in which instruction (index of its first word).
struct StreamError {
  size_t word;
  std::string message;
};

/// Checks all that can be seen without running: every instruction decodes and belongs to this engine; loops and jumps
/// nest; registers are written before they are read on every path; element types, layouts, memories, alignment, bounds
/// and shapes are legal on `arch` where they are static. `numArgs`: pointer arguments of the kernel, if known.
/// `numScalars`: scalar arguments.
std::optional<StreamError> verifyStream(CoreKind core, Pipe pipe, const uint32_t *words, size_t numWords, Arch arch,
                                        std::optional<unsigned> numArgs = std::nullopt);
inline std::optional<StreamError> verifyStream(CoreKind core, Pipe pipe, const std::vector<uint32_t> &words, Arch arch,
                                               std::optional<unsigned> numArgs = std::nullopt) {
  return verifyStream(core, pipe, words.data(), words.size(), arch, numArgs);
}

/// One tile operand, values resolved or static (register operands are not checked): element type and layout of the
/// operand, alignment, bounds, valid <= shape. For the load-time verifier, and for a simulator once registers are
/// known.
std::optional<std::string> checkTile(const OperandInfo &operand, const Tile &tile, Memory memory, Arch arch);

/// The relation between the valid shapes of the instruction's tiles, where all of them are known.
std::optional<std::string> checkShapes(const DecodedInsn &insn);

} // namespace pto_mlir::isa

#endif

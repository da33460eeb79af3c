//===- Verify.h - Static verification of command streams ------------------===//

#ifndef PTO_MLIR_ISA_VERIFY_H
#define PTO_MLIR_ISA_VERIFY_H

#include "pto_mlir/ISA/Codec.h"

namespace pto_mlir::isa {

/// An error in a stream, and the index of the first word of its instruction.
struct StreamError {
  size_t word;
  std::string message;
};

/// Checks everything that is known statically: every instruction decodes and belongs to this engine; loops and jumps
/// nest; registers are written before they are read on every path; static element types, layouts, memories, alignment,
/// bounds and shapes are legal on `arch`. `numArgs`: pointer arguments of the kernel, if known. Returns the first
/// error.
std::optional<StreamError> verifyStream(CoreKind core, Pipe pipe, const uint32_t *words, size_t numWords, Arch arch,
                                        std::optional<unsigned> numArgs = std::nullopt);
/// As above, for a whole vector of words.
inline std::optional<StreamError> verifyStream(CoreKind core, Pipe pipe, const std::vector<uint32_t> &words, Arch arch,
                                               std::optional<unsigned> numArgs = std::nullopt) {
  return verifyStream(core, pipe, words.data(), words.size(), arch, numArgs);
}

/// Checks one tile operand (registers that are not resolved are skipped): element type, layout, alignment, bounds,
/// valid region within the box. Used at load time, and by a simulator once registers are resolved. Returns an error
/// message, if any.
std::optional<std::string> checkTile(const OperandInfo &operand, const Tile &tile, Memory memory, Arch arch);

/// Checks the relation between the valid shapes of the instruction's tiles, where they are known. Returns an error
/// message, if any.
std::optional<std::string> checkShapes(const DecodedInsn &insn);

} // namespace pto_mlir::isa

#endif

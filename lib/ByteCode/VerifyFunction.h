#ifndef PTO_MLIR_LIB_BYTECODE_VERIFYFUNCTION_H
#define PTO_MLIR_LIB_BYTECODE_VERIFYFUNCTION_H

#include "pto_mlir/ByteCode/Program.h"

namespace pto_mlir::bytecode {

/// Whether an integer is a valid iN: 0 or 1 for i1, else sign-extended.
inline bool fitsWidth(int64_t value, unsigned width) {
  if (width == 1)
    return value == 0 || value == 1;
  return width == 64 || (value >= -(int64_t(1) << (width - 1)) && value < int64_t(1) << (width - 1));
}

/// Verifies and decodes one function of a module whose types, constants and signatures have been verified. On failure
/// `at` is the offending instruction.
Result<LoadedFunction> verifyFunction(const Module &module, const Function &function, uint32_t &at);

} // namespace pto_mlir::bytecode

#endif

// Writes the kernels of a model as .pto files.
#ifndef PTO_MLIR_LIB_COMPILER_EMITPTO_H
#define PTO_MLIR_LIB_COMPILER_EMITPTO_H

#include "mlir/Pass/Pass.h"
#include "pto_mlir/Compiler/Compiler.h"

namespace pto_mlir {

struct EmitOptions {
  std::string folder, processor;
  bool exact = false; // for pto-compile, instead of restricted to what the public assembler lowers
};

/// Lines are "kernel: reason".
struct EmitResult {
  int64_t written = 0;
  std::vector<std::string> left;      // not written
  std::vector<std::string> rewritten; // written with other ops than those of the model
};

/// A pass for the end of stage "pto" that writes each kernel to `<folder>/<kernel>.pto`. `result` must outlive the
/// pass.
std::unique_ptr<mlir::Pass> createEmitPTO(EmitOptions options, EmitResult &result);

} // namespace pto_mlir

#endif

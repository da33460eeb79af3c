// The kernels of a model as .pto that the public assembler lowers.
#ifndef PTO_MLIR_LIB_PIPELINES_EMITPTO_H
#define PTO_MLIR_LIB_PIPELINES_EMITPTO_H

#include "mlir/Pass/Pass.h"
#include "pto_mlir/Pipelines/Compiler.h"

namespace pto_mlir {

/// A pass for the end of stage "pto": writes each kernel as `<folder>/<kernel>.pto`, in constructs that the assembler
/// lowers. What it cannot express is not written: `left` gets "kernel: reason". `written` counts the files. Both must
/// outlive the pass.
std::unique_ptr<mlir::Pass> createEmitPTO(std::string folder, std::string processor, int64_t &written,
                                          std::vector<std::string> &left);

} // namespace pto_mlir

#endif

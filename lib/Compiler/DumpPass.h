// Writes the module after a stage to a file.
#ifndef PTO_MLIR_LIB_COMPILER_DUMPPASS_H
#define PTO_MLIR_LIB_COMPILER_DUMPPASS_H

#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace pto_mlir {

/// A module pass that changes nothing and writes the module to `file`, large constants left out.
std::unique_ptr<mlir::Pass> createDump(std::string file);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_COMPILER_DUMPPASS_H

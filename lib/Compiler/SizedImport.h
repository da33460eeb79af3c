//===- SizedImport.h - models whose sizes are known at run time -*- C++ -*-===//

#ifndef PTO_MLIR_LIB_COMPILER_SIZEDIMPORT_H
#define PTO_MLIR_LIB_COMPILER_SIZEDIMPORT_H

#include "pto_mlir/Compiler/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pto_mlir {

/// Imports the model with these sizes of named dimensions into a context of its own; null after an error.
using ImportAt = llvm::function_ref<mlir::OwningOpRef<mlir::ModuleOp>(const std::map<std::string, int64_t> &sizes,
                                                                      mlir::MLIRContext &context)>;

/// Finds how the shapes of `module`, imported with the greatest sizes, depend on them: imports the model with other
/// sizes, too, which must give the same ops, and writes `top.symbols` and `top.sizes` on @main. Then checks that there
/// are kernels for these sizes. Returns why not, in words for the user; nothing is written then.
std::optional<std::string> findSizes(mlir::ModuleOp module, const std::map<std::string, SizeRange> &ranges,
                                     ImportAt importAt);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_COMPILER_SIZEDIMPORT_H

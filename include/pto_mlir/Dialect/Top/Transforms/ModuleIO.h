// A top module as two files: the .mlir text and the weights beside it as safetensors.
#ifndef PTO_MLIR_DIALECT_TOP_TRANSFORMS_MODULEIO_H
#define PTO_MLIR_DIALECT_TOP_TRANSFORMS_MODULEIO_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace pto_mlir::top {

/// Writes `path` (with locations) and, beside it, `<stem>_top_weights.safetensors` with every weight that a top.weight
/// names; the module's `top.weight_file` becomes that file's name. Both are written under temporary names and renamed.
/// On error nothing is left and `error` says "<path>: <reason>".
llvm::LogicalResult writeTopModule(mlir::ModuleOp module, llvm::StringRef path, std::string &error);

/// Reads what writeTopModule wrote, weights mapped. Loads the dialects it needs into the context. Null on error, with
/// one line per problem appended to `errors`.
mlir::OwningOpRef<mlir::ModuleOp> readTopModule(llvm::StringRef path, mlir::MLIRContext &context,
                                                std::vector<std::string> &errors);

/// Writes the weights that the module names.
llvm::LogicalResult saveWeights(mlir::ModuleOp module, llvm::StringRef path, std::string &error);

/// Puts the file's tensor into the context's store for each top.weight of the module; types must agree. An op whose
/// name is taken by another module's weight gets a new one.
llvm::LogicalResult loadWeights(mlir::ModuleOp module, llvm::StringRef path, std::string &error);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_TRANSFORMS_MODULEIO_H

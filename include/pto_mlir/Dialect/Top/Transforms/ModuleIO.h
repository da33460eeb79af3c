// Reading and writing of a top module as two files: .mlir text, and the weights next to it as safetensors.
#ifndef PTO_MLIR_DIALECT_TOP_TRANSFORMS_MODULEIO_H
#define PTO_MLIR_DIALECT_TOP_TRANSFORMS_MODULEIO_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace pto_mlir::top {

/// Writes `path` (with locations) and, next to it, `<stem>_top_weights.safetensors` with every weight that a top.weight
/// names; sets the module's `top.weight_file` to that file's name. Both files are written under temporary names and
/// renamed. On error no file is left and `error` is "<path>: <reason>".
llvm::LogicalResult writeTopModule(mlir::ModuleOp module, llvm::StringRef path, std::string &error);

/// Reads the files of writeTopModule, mapping the weights. Loads the required dialects into the context. On error
/// returns null and appends one line per problem to `errors`.
mlir::OwningOpRef<mlir::ModuleOp> readTopModule(llvm::StringRef path, mlir::MLIRContext &context,
                                                std::vector<std::string> &errors);

/// Writes the weights that the module names to a safetensors file.
llvm::LogicalResult saveWeights(mlir::ModuleOp module, llvm::StringRef path, std::string &error);

/// Adds the file's tensor for each top.weight of the module to the context's store; types must agree. If another module
/// uses the name, the op gets a new one.
llvm::LogicalResult loadWeights(mlir::ModuleOp module, llvm::StringRef path, std::string &error);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_TRANSFORMS_MODULEIO_H

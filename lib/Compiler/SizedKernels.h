// Whether a model's kernels can have its sizes at run time.
#ifndef PTO_MLIR_LIB_COMPILER_SIZEDKERNELS_H
#define PTO_MLIR_LIB_COMPILER_SIZEDKERNELS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace mlir {
class PassManager;
}

namespace pto_mlir {

/// Whether there are kernels for the sizes of a module.
class SizedKernels {
public:
  /// Takes a copy of `module`.
  explicit SizedKernels(mlir::ModuleOp module);

  /// Why there are none in that storage type, with attentions as products or as one op each; nullopt: there are.
  std::optional<std::string> problem(llvm::StringRef storage, bool attentions);

private:
  std::optional<std::string> run(mlir::PassManager &pm, mlir::ModuleOp on, llvm::StringRef otherwise);

  mlir::OwningOpRef<mlir::ModuleOp> laidOut; ///< what no storage type changes is done once
  std::optional<std::string> first;
};

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_COMPILER_SIZEDKERNELS_H

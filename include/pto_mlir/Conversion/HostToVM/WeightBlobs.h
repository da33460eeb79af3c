// The contents of the weights section of a module.
#ifndef PTO_MLIR_CONVERSION_HOSTTOVM_WEIGHTBLOBS_H
#define PTO_MLIR_CONVERSION_HOSTTOVM_WEIGHTBLOBS_H

#include "mlir/IR/BuiltinOps.h"
#include "pto_mlir/PModel/Model.h"
#include <optional>
#include <vector>

namespace pto_mlir {

/// Module attribute with the names of the weights, in the order of the section.
inline constexpr llvm::StringLiteral kWeightOrderAttr = "top.weight_order";

/// The blobs named by `top.weight_order`, as views of the weight store. Emits an error and returns nullopt when one is
/// missing.
std::optional<std::vector<pmodel::WeightDesc>> weightBlobs(mlir::ModuleOp module);

} // namespace pto_mlir

#endif

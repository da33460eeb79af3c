// The weights section of a module: which blobs, in which order.
#ifndef PTO_MLIR_CONVERSION_HOSTTOVM_WEIGHTBLOBS_H
#define PTO_MLIR_CONVERSION_HOSTTOVM_WEIGHTBLOBS_H

#include "mlir/IR/BuiltinOps.h"
#include "pto_mlir/PModel/Model.h"
#include <optional>
#include <vector>

namespace pto_mlir {

/// Module attribute with the names of the weights, in the order of the section.
inline constexpr llvm::StringLiteral kWeightOrderAttr = "top.weight_order";

/// The blobs that `top.weight_order` names, as views of the weight store. Emits an error and returns nothing when one
/// is missing.
std::optional<std::vector<pmodel::WeightDesc>> weightBlobs(mlir::ModuleOp module);

/// The file's element type for a builtin element type; nothing when the file has none.
std::optional<ElementType> fileElementType(mlir::Type type);

} // namespace pto_mlir

#endif

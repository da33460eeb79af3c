// Helpers shared by the result-type inference of several ops.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_IR_INFERENCE_H
#define PTO_MLIR_LIB_DIALECT_TOP_IR_INFERENCE_H

#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Support/ElementType.h"
#include "llvm/Support/FormatVariadic.h"

namespace pto_mlir::top {

using pto_mlir::shapeText;

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// Reports what is wrong with an op under inference, in the words of Operation::emitOpError.
template <typename OpTy, typename... Args>
llvm::LogicalResult inferError(std::optional<mlir::Location> loc, Args &&...args) {
  return mlir::emitOptionalError(loc, "'", OpTy::getOperationName(), "' op ", std::forward<Args>(args)...);
}

/// The broadcast of two shapes by numpy's rules; nullopt if they are incompatible.
std::optional<llvm::SmallVector<int64_t>> broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Verifies the attributes of a window op against the number of spatial dimensions and computes the spatial sizes of
/// the output. On error returns nullopt and sets `message`.
std::optional<llvm::SmallVector<int64_t>> inferWindow(llvm::ArrayRef<int64_t> spatial, llvm::ArrayRef<int64_t> kernel,
                                                      llvm::ArrayRef<int64_t> strides,
                                                      llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> pads,
                                                      bool ceil, std::string &message);

/// The element type of a product or convolution, whose attribute is `to`; `columns` is the dimension of `right` that
/// makes the result's columns, `bias` null without. On error returns null and sets `message`.
mlir::Type inferProductElement(mlir::RankedTensorType left, mlir::RankedTensorType right, int64_t columns,
                               mlir::Value bias, std::optional<mlir::Type> to, std::string &message);

} // namespace pto_mlir::top

#endif // PTO_MLIR_LIB_DIALECT_TOP_IR_INFERENCE_H

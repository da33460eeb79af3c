// One product for several that read one tensor.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_MERGEPROJECTIONS_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_MERGEPROJECTIONS_H

#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/IR/PatternMatch.h"

namespace pto_mlir::top {

/// Replaces the products with constant weights that make queries, keys and values of one tensor by slices of one
/// product; false where there are not two of them. Values and keys decide which tensor it is.
bool mergeProjections(AttentionOp op, mlir::RewriterBase &rewriter);

/// The constants side by side in dimension `axis`.
mlir::Value concatenateConstants(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Value> values, int64_t axis);

/// Whether both have elements of one type, or both are null.
bool haveLikeElements(mlir::Value a, mlir::Value b);

/// Of the last dimension of `whole`, the extent of `type` from `begin` on.
mlir::Value sliceColumns(mlir::OpBuilder &b, mlir::Location loc, mlir::Value whole, int64_t begin,
                         mlir::RankedTensorType type);

} // namespace pto_mlir::top

#endif // PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_MERGEPROJECTIONS_H

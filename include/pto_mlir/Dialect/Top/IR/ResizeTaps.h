// The interpolation weights of a resize.
#ifndef PTO_MLIR_DIALECT_TOP_IR_RESIZETAPS_H
#define PTO_MLIR_DIALECT_TOP_IR_RESIZETAPS_H

#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Support/ResizeTaps.h"

namespace pto_mlir::top {

using pto_mlir::ResizeTap;

/// The taps of every output element along one dimension (Support/ResizeTaps.h).
std::vector<llvm::SmallVector<ResizeTap, 4>> resizeTaps(ResizeOp op, int64_t dim);

/// The input index of each output element; nullopt when some output element has several inputs or a weight other
/// than 1.
std::optional<llvm::SmallVector<int64_t>> copiedIndices(llvm::ArrayRef<llvm::SmallVector<ResizeTap, 4>> taps);
/// Whether the indices are those of a dimension of `size` elements, each as often as the others: 0, .., 0, 1, .., 1, ..
bool repeatsEach(llvm::ArrayRef<int64_t> indices, int64_t size);
/// Whether they grow by one positive step.
bool stepsEvenly(llvm::ArrayRef<int64_t> indices);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_RESIZETAPS_H

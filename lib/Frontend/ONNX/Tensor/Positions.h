// Positions in the row-major order of a tensor, computed from ONNX indices.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_TENSOR_POSITIONS_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_TENSOR_POSITIONS_H

#include "../Composite.h"
#include "pto_mlir/Support/ElementType.h"

namespace pto_mlir::onnx {

/// An i64 constant of shape 1x..x`count`x..x1 with `count` in dimension `dim` of `rank`: 0, `step`, 2 * `step`, ..
/// Null, with an error, for too many.
mlir::Value rangeAlong(Node &node, int64_t rank, int64_t dim, int64_t count, int64_t step = 1);

/// Input `i`, indices into a dimension of `size` elements, none negative. Reports constants that are out of range and
/// returns null.
mlir::Value readIndices(Node &node, unsigned i, int64_t size);

/// `indices` (one per element of their tensor, along dimension `axis` of `shape`) as positions in a tensor of `shape`;
/// the other coordinates are those of the element itself. The op that GatherElements and ScatterElements share.
mlir::Value elementPositions(Node &node, mlir::Value indices, llvm::ArrayRef<int64_t> shape, int64_t axis);

/// Input `i`, tuples of indices [.., k], as positions among the first dimensions of `shape`; `batch` leading dimensions
/// are those of the tuple itself. Result: the shape of input `i` without its last dimension. Null after an error.
mlir::Value tuplePositions(Node &node, unsigned i, llvm::ArrayRef<int64_t> shape, int64_t batch);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_TENSOR_POSITIONS_H

// The parts of evaluate(): elementwise arithmetic, logic and selection, data movement, reductions,
// batch normalisation.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_IR_EVALUATE_EVALUATE_H
#define PTO_MLIR_LIB_DIALECT_TOP_IR_EVALUATE_EVALUATE_H

#include "pto_mlir/Dialect/Top/IR/Evaluate.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

namespace pto_mlir::top {

/// Bytes of the result; nullopt if the op is not handled by this part or its result is undefined.
std::optional<std::vector<char>> evaluateElementwise(mlir::Operation *op, llvm::ArrayRef<Weight> operands);
std::optional<std::vector<char>> evaluateLogic(mlir::Operation *op, llvm::ArrayRef<Weight> operands);
std::optional<std::vector<char>> evaluateMovement(mlir::Operation *op, llvm::ArrayRef<Weight> operands);
std::optional<std::vector<char>> evaluateReduction(mlir::Operation *op, llvm::ArrayRef<Weight> operands);
std::optional<std::vector<char>> evaluateBatchNorm(mlir::Operation *op, llvm::ArrayRef<Weight> operands);

/// Row-major strides of a shape, in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// For each element of `shape` in row-major order, the index of the element of `operand` that it reads under
/// broadcasting.
std::vector<int64_t> broadcastOffsets(llvm::ArrayRef<int64_t> shape, const Weight &operand);

/// Calls visit(offset) for every index of `shape` in row-major order, offset = base + sum of index * stride.
void forEachOffset(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides, int64_t base,
                   llvm::function_ref<void(int64_t)> visit);

} // namespace pto_mlir::top

#endif // PTO_MLIR_LIB_DIALECT_TOP_IR_EVALUATE_EVALUATE_H

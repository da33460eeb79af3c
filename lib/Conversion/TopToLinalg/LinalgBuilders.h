//===- LinalgBuilders.h - helpers of the lowerings --------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_LINALGBUILDERS_H
#define PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_LINALGBUILDERS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace pto_mlir::top_to_linalg {

/// Computes one element from the elements of the operands.
using ElementFn = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// The type in which elementwise functions of `type` are computed: f32 for bf16
/// (and for f16 when `wide`), else `type` itself.
mlir::Type computeType(mlir::Type type, bool wide);

/// The location of an intermediate op: refers to `loc`, but names no tensor.
mlir::Location innerLoc(mlir::Location loc);

/// `arith.constant` of a float or integer type, rounded once.
mlir::Value scalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, double value);

/// Converts a scalar between element types as top.cast does; no op when equal.
mlir::Value convertScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type type);

mlir::Value empty(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape, mlir::Type type);

/// tensor.empty filled with `value`.
mlir::Value filled(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape, mlir::Type type,
                   double value);

/// One parallel linalg.generic named `loc`: operands broadcast as numpy does to
/// `resultType`'s shape, constants with equal elements become scalars of the
/// body, elements are converted to `compute` (null: left as they are) before and to the result's type after `body`.
mlir::Value elementwise(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType resultType,
                        mlir::ValueRange operands, mlir::Type compute, ElementFn body);

/// The same with one affine map per operand in place of numpy's rule.
mlir::Value elementwiseMapped(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType resultType,
                              mlir::ValueRange operands, llvm::ArrayRef<mlir::AffineMap> maps, mlir::Type compute,
                              ElementFn body);

/// linalg.generic that reduces `axes` of `input` (dropping the dimensions), starting from `initial`; elements are
/// converted to `accumulator` type first. `body` gets (element, accumulator).
mlir::Value reduce(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> axes,
                   mlir::Type accumulator, double initial, ElementFn body);

/// The elements of `value` converted to `type`; `value` itself when it has that type. Constants are converted in the
/// store.
mlir::Value convertTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type type);

/// The same elements as [outer, rows, inner]: dimensions [first, end) are the rows.
mlir::Value joinAround(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, size_t first, size_t end);

/// The same elements under another shape, as at most one collapse and one expand.
mlir::Value reshape(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> shape);

/// Pads `value` with a constant; returns `value` when all pads are 0.
mlir::Value pad(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> low,
                llvm::ArrayRef<int64_t> high, double constant);

/// Normalises windows over one or two spatial dimensions to two: a single spatial dimension is the width of an image of
/// height 1. Where it may be a size that is known at run time it is the height of an image of width 1: kernels have
/// such a size outermost.
class ImageWindow {
public:
  /// For `op` in `layout` on `input`. Emits an error for unsupported cases (NCHW, three or more spatial dimensions).
  static mlir::FailureOr<ImageWindow> get(mlir::Operation *op, llvm::StringRef layout, mlir::RankedTensorType input);

  /// One number per spatial dimension -> two; `missing` for an absent one.
  llvm::SmallVector<int64_t> numbers(llvm::ArrayRef<int64_t> values, int64_t missing) const;
  /// First the low then the high pads of all spatial dimensions -> (low, high) of two.
  std::pair<llvm::SmallVector<int64_t>, llvm::SmallVector<int64_t>> pads(llvm::ArrayRef<int64_t> values) const;
  /// `shape`, whose first spatial dimension is `height`, with a unit dimension for an absent one.
  llvm::SmallVector<int64_t> shape(llvm::ArrayRef<int64_t> shape, unsigned height = 1) const;
  /// Which of the op's spatial dimensions the height (0) or the width (1) is; nullopt: the absent one.
  std::optional<int64_t> ownDim(int64_t dim) const;

private:
  explicit ImageWindow(int64_t spatial, bool upright) : spatial(spatial), upright(upright) {}
  int64_t spatial;
  bool upright; ///< a single spatial dimension is the height
};

/// The quotient of two i32 of a body, rounded toward zero; -2^31 / -1 wraps. Any number where the divisor is 0.
mlir::Value divideIntegers(mlir::OpBuilder &b, mlir::Location loc, mlir::Value dividend, mlir::Value divisor);

} // namespace pto_mlir::top_to_linalg

#endif // PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_LINALGBUILDERS_H

//===- SizeAnalysis.h - extents known at run time ---------------*- C++ -*-===//
//
// Tensors have the shapes of the greatest sizes; beside them stand the extents as
// expressions of symbols (docs/sizes.md). This follows them through the ops of one
// block, by indexing maps and reassociations.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_SIZES_SIZEANALYSIS_H
#define PTO_MLIR_LIB_KERNELS_SIZES_SIZEANALYSIS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "llvm/ADT/DenseMap.h"

namespace pto_mlir::kernels {

/// Extents of a tensor, one expression of symbols per dimension.
using Sizes = llvm::SmallVector<mlir::AffineExpr>;

/// `coefficient` times `rest`, which has no constant factor (1 for a constant).
struct Factored {
  int64_t coefficient;
  mlir::AffineExpr rest;
};
Factored factor(mlir::AffineExpr expr);
/// The product, as one coefficient times symbols in the order of the factors.
mlir::AffineExpr product(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::MLIRContext *context);

/// The extent where the symbols have these values.
int64_t valueOf(mlir::AffineExpr size, llvm::ArrayRef<int64_t> symbols);

/// The static shape of `type` as sizes.
Sizes constantSizes(mlir::RankedTensorType type);
bool areConstant(llvm::ArrayRef<mlir::AffineExpr> sizes);
/// The first dimension whose extent is an expression of symbols; all before it are 1. -1: all are constant. Nullopt:
/// there are several, or others stand before it, so that the distance of rows would be known at run time only.
std::optional<int64_t> symbolicRow(llvm::ArrayRef<mlir::AffineExpr> sizes);

/// A dimension of an operand that windows slide over: stride * (output loop) + dilation * (loop over the window).
struct WindowDim {
  unsigned output, tap; ///< loops
  int64_t stride, dilation;
};
/// Nullopt where `expr`, of an indexing map, is none.
std::optional<WindowDim> windowDim(mlir::AffineExpr expr);

/// Do extents that are known at run time stand outermost, so that the tensor is rows, as many as their product?
bool isLeading(llvm::ArrayRef<mlir::AffineExpr> sizes);

/// The parts, of `shape`, of an extent that is a product of two symbols with these greatest values: one dimension for
/// each symbol or one for both, the outermost that are not 1. Nullopt where there is no such split, or several.
std::optional<Sizes> splitProduct(mlir::AffineExpr size, llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<int64_t> greatest);

/// Is `value` a broadcast along dimension `dim`, so that it may have any extent there?
bool isUniformAlong(mlir::Value value, unsigned dim);

class SizeAnalysis {
public:
  SizeAnalysis() = default;
  /// Knows the arguments of a kernel (pto.sizes).
  explicit SizeAnalysis(mlir::func::FuncOp kernel);
  /// Knows the inputs of `@main` (top.sizes) and the greatest values of its symbols, by which a product of symbols is
  /// split again.
  static SizeAnalysis ofMain(mlir::func::FuncOp main);

  /// Sets what is known of a value, an argument or the result of a launch.
  void set(mlir::Value value, Sizes sizes) { known[value] = std::move(sizes); }
  /// The sizes of `value`; constant where nothing else is known.
  Sizes of(mlir::Value value) const;
  /// Whether any extent of `value` is known at run time only.
  bool isSymbolic(mlir::Value value) const { return !areConstant(of(value)); }
  /// Of the loops of a linalg op.
  Sizes ofLoops(mlir::linalg::LinalgOp op) const;

  /// Follows the sizes through `op`. An error, on `op` and in words for the user, where there is no rule for it.
  mlir::LogicalResult visit(mlir::Operation *op);

private:
  mlir::LogicalResult visitLinalg(mlir::linalg::LinalgOp op);
  mlir::LogicalResult visitCollapse(mlir::tensor::CollapseShapeOp op);
  mlir::LogicalResult visitExpand(mlir::tensor::ExpandShapeOp op);
  mlir::LogicalResult visitMovement(mlir::Operation *op);
  mlir::LogicalResult visitAttention(top::AttentionOp op);

  llvm::DenseMap<mlir::Value, Sizes> known;
  llvm::SmallVector<int64_t> greatest; ///< of the symbols
};

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_SIZES_SIZEANALYSIS_H

//===- Extents.h - extents that a launch passes -----------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_SIZES_EXTENTS_H
#define PTO_MLIR_LIB_KERNELS_SIZES_EXTENTS_H

#include "SizeAnalysis.h"

namespace pto_mlir::kernels {

/// Makes the extents of a kernel with pto.greatest_sizes as values at its beginning, each once. A kernel without has
/// constant extents only.
class Extents {
public:
  explicit Extents(mlir::func::FuncOp kernel);

  /// The extents that `sizes` say: attributes, and values for those known at run time.
  mlir::OpFoldResult of(mlir::AffineExpr size);
  llvm::SmallVector<mlir::OpFoldResult> of(llvm::ArrayRef<mlir::AffineExpr> sizes);
  /// The greatest value of one of them.
  int64_t greatest(mlir::AffineExpr size) const;

private:
  mlir::func::FuncOp kernel;
  llvm::SmallVector<int64_t> most; ///< of the launch's scalars
  llvm::SmallVector<mlir::Value> scalars;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> made;
};

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_SIZES_EXTENTS_H

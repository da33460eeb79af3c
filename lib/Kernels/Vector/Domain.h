//===- Domain.h - dimensions shared by the ops of a kernel ------*- C++ -*-===//
//
// The loops of the linalg ops in a kernel are tied together by the tensors that
// they exchange. A class of this analysis is a set of loops and tensor
// dimensions that always advance together.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_VECTOR_DOMAIN_H
#define PTO_MLIR_LIB_KERNELS_VECTOR_DOMAIN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/IntEqClasses.h"

namespace pto_mlir::vector_kernels {

class Domain {
public:
  /// Unifies the loops of `ops` through projected-permutation operand maps.
  explicit Domain(llvm::ArrayRef<mlir::linalg::LinalgOp> ops);

  /// Classes of the loops of `op`, outermost first.
  llvm::SmallVector<unsigned> loopClasses(mlir::linalg::LinalgOp op) const;

private:
  void build(llvm::ArrayRef<mlir::linalg::LinalgOp> ops, bool throughArguments);

  llvm::DenseMap<mlir::Operation *, unsigned> firstLoopNode;
  llvm::DenseMap<mlir::Value, unsigned> firstValueNode;
  llvm::IntEqClasses classes;
};

} // namespace pto_mlir::vector_kernels

#endif // PTO_MLIR_LIB_KERNELS_VECTOR_DOMAIN_H

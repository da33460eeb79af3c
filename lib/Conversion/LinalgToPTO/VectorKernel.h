//===- VectorKernel.h - recognise vector kernels ------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_VECTORKERNEL_H
#define PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_VECTORKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir {

/// Whether `func` is a vector kernel with a body whose arguments are all of type `T`.
template <typename T> bool isVectorKernelOn(mlir::func::FuncOp func) {
  auto kind = func->getAttrOfType<pto::KernelKindAttr>(pto::kKernelKindAttr);
  return kind && kind.getValue() == pto::KernelKind::vector && !func.isExternal() && func.getNumArguments() != 0 &&
         llvm::all_of(func.getArgumentTypes(), llvm::IsaPred<T>);
}

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_VECTORKERNEL_H

//===- PlaceColumns.h - columns of a tensor that are read in place --*- C++ -*-===//
#ifndef PTO_MLIR_LIB_KERNELS_INPLACE_PLACECOLUMNS_H
#define PTO_MLIR_LIB_KERNELS_INPLACE_PLACECOLUMNS_H

#include "PitchedKernels.h"

namespace pto_mlir::kernels {

/// A launch that copies columns of a tensor whose rows are `pitch` elements apart.
struct ColumnsCopy {
  top::LaunchOp launch;
  int64_t begin, size, row, pitch; ///< in elements
};

/// The launches of @main that only copy columns. `pitchOf`: of a tensor, between rows of so many elements.
llvm::SmallVector<ColumnsCopy> findColumns(mlir::func::FuncOp main,
                                           llvm::function_ref<int64_t(mlir::Value, int64_t)> pitchOf);

/// Has the kernels that read such columns read them where they are, if they can; the launch is a `tensor.extract_slice`
/// then.
void placeColumns(llvm::ArrayRef<ColumnsCopy> copies, PitchedKernels &kernels);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_INPLACE_PLACECOLUMNS_H

//===- KernelBuilder.h - the pto body of a cube kernel ----------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_CUBE_KERNELBUILDER_H
#define PTO_MLIR_LIB_KERNELS_CUBE_KERNELBUILDER_H

#include "Contraction.h"

namespace pto_mlir::cube {

/// Emits the body of `func`, whose entry block is empty and whose arguments
/// are pointers. `cores` is the number of blocks of a launch: 0 when it is not
/// known, 1 leaves out the distribution.
void buildKernel(mlir::func::FuncOp func, const Contraction &contraction,
                 const CubeTiling &tiling, int64_t cores);

} // namespace pto_mlir::cube

#endif // PTO_MLIR_LIB_KERNELS_CUBE_KERNELBUILDER_H

//===- KernelBuilder.h - the pto body of a cube kernel ----------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_CUBE_KERNELBUILDER_H
#define PTO_MLIR_LIB_KERNELS_CUBE_KERNELBUILDER_H

#include "Feed.h"

namespace pto_mlir::cube {

/// Emits the body of `func`, whose entry block is empty and whose arguments
/// are pointers. `cores` is the number of blocks of a launch: 0 when it is not
/// known, 1 leaves out the distribution.
void buildKernel(mlir::func::FuncOp func, const Contraction &contraction, const CubeTiling &tiling, int64_t cores);

/// The two functions of a joined kernel: the same, but for the tiles that go into
/// the slots of `handover` instead of the output, for the left operand that comes from
/// those of `feed`, and what the vector cores do with them. One of both may be null.
void buildCubePart(mlir::func::FuncOp func, const Contraction &contraction, const CubeTiling &tiling, int64_t cores,
                   const Handover *handover, const Feed *feed);
void buildVectorPart(mlir::func::FuncOp func, const Contraction &contraction, const CubeTiling &tiling, int64_t cores,
                     const Handover *handover, const Feed *feed);

/// The same for a convolution, without img2col: one product per tap of the
/// window. The operands are those of `buildKernel`; partial sums are added in
/// another order.
void buildWindowKernel(mlir::func::FuncOp func, const Contraction &contraction, const CubeTiling &tiling,
                       int64_t cores);
/// False for what is no convolution of an image, and when some window lies in
/// the padding altogether.
bool canBuildWindowKernel(const Contraction &contraction);

/// The bias of columns [n, n + extent) of one outer index, in the bias table.
mlir::Value loadBias(Emitter &e, const Contraction &contraction, Ix outer, Ix n, int64_t baseN, Ix extent);
/// Their descriptors, in the fixpipe's buffer.
mlir::Value loadScales(Emitter &e, const Contraction &contraction, Ix outer, Ix n, int64_t baseN, Ix extent);

/// The tile of sums in L0C to global memory, with what the epilogue does on the way; `scales` null without any.
void storeSums(Emitter &e, const Contraction &contraction, mlir::Value acc, mlir::Value scales, mlir::Value view);

} // namespace pto_mlir::cube

#endif // PTO_MLIR_LIB_KERNELS_CUBE_KERNELBUILDER_H

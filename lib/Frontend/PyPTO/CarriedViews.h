// Loops of kernels that carry parts of a tensor in global memory.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_CARRIEDVIEWS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_CARRIEDVIEWS_H

#include "pypto/ir/program.h"

namespace pto_mlir::pypto_frontend {

/// A loop in a kernel or scope that carries a slice, whose turns yield slices of the same tensor and shape, carries
/// the numbers where it begins: the memory is there, and a copy of it would be a computed tensor.
pypto::ir::ProgramPtr carryOffsetsOfViews(const pypto::ir::ProgramPtr &program);

} // namespace pto_mlir::pypto_frontend

#endif

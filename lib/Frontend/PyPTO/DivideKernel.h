// A kernel as functions for each kind of core, as they are compiled.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_DIVIDEKERNEL_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_DIVIDEKERNEL_H

#include "SplitCores.h"

#include "pto_mlir/Dialect/PTO/IR/Target.h"
#include "pto_mlir/ISA/Table.h"

namespace pto_mlir::pypto_frontend {

/// splitCores, with the work of the vector cores in halves where the kernel says so (splitHalves). Throws for rings
/// that L1 does not hold, too.
std::optional<CoreFunctions> divideKernel(const pypto::ir::FunctionPtr &kernel, const pto::Target &target);

/// The function with tiles, and for its kind of core; as it is where that would change its parameters.
pypto::ir::FunctionPtr ofOneCore(const pypto::ir::FunctionPtr &function, const isa::ArchInfo &arch);

} // namespace pto_mlir::pypto_frontend

#endif

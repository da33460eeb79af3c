// pto functions to PyPTO's IR.
#ifndef PTO_MLIR_FRONTEND_PYPTO_RAISEPYPTO_H
#define PTO_MLIR_FRONTEND_PYPTO_RAISEPYPTO_H

#include "mlir/IR/BuiltinOps.h"
#include "pypto/ir/program.h"

namespace pto_mlir {

/// The kernels of a parsed `.pto` as a program: operations by the table of PyPTO's, a variable for what each op writes,
/// tiles of one buffer with one MemRef. Null with one error at the op that has no form there.
pypto::ir::ProgramPtr raisePyPTO(mlir::ModuleOp module);

} // namespace pto_mlir

#endif

// Products as operands of the vector cores.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_ACCOPERANDS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_ACCOPERANDS_H

#include "pypto/ir/stmt.h"

namespace pto_mlir::pypto_frontend {

/// The body with a move to Vec of each tile in Acc that an operation of the vector cores reads. What it computes then
/// lies in Vec, too. A cast stays: a store narrows what it gives.
pypto::ir::StmtPtr moveAccOperands(const pypto::ir::StmtPtr &body);

} // namespace pto_mlir::pypto_frontend

#endif

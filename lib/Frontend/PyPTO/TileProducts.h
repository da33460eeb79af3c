// Products of tiles in Mat that L0 does not hold, or that are batches, in parts.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_TILEPRODUCTS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_TILEPRODUCTS_H

#include "pto_mlir/ISA/Table.h"
#include "pypto/ir/function.h"

namespace pto_mlir::pypto_frontend {

/// The body with such products computed in steps along K. A product that L0C does not hold, and one of batches, is
/// computed where it is stored or moved to Mat, part by part; other uses are refused with the place.
pypto::ir::StmtPtr tileProducts(const pypto::ir::StmtPtr &body, const isa::ArchInfo &arch);

} // namespace pto_mlir::pypto_frontend

#endif

// Forms of cost that only vector instructions have.
#ifndef PTO_MLIR_LIB_COST_VECTORCOST_H
#define PTO_MLIR_LIB_COST_VECTORCOST_H

#include "pto_mlir/Cost/Cost.h"
#include "pto_mlir/ISA/OperandList.h"

namespace pto_mlir::cost {

/// head, work per 256 bytes of dst (`widest`: of the longest operand), tail.
InsnCost repeatsCost(const isa::OperandList &operands);
/// Per row of src, by how many bytes it has.
InsnCost rowsCost(const isa::OperandList &operands);
/// Per row of dst, by whether it has more than 256 bytes.
InsnCost spreadCost(const isa::OperandList &operands);
/// By the curves of a5, of which the row has some.
InsnCost curveCost(const isa::OperandList &operands);

} // namespace pto_mlir::cost

#endif

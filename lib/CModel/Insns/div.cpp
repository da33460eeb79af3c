#include "FloorDivide.h"
#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Div &insn, Core &core) {
  if (insn.rhs.value == 0)
    return core.fault(FaultKind::ZeroDivisor, "division of " + std::to_string(insn.lhs.value) + " by 0");
  core.engine().registers[insn.dst] = floorDivide(insn.lhs.value, insn.rhs.value);
}

} // namespace pto_mlir::cmodel

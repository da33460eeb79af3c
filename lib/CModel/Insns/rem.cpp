#include "FloorDivide.h"
#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Rem &insn, Core &core) {
  if (insn.rhs.value == 0)
    return core.fault(FaultKind::ZeroDivisor, "remainder of " + std::to_string(insn.lhs.value) + " by 0");
  uint64_t quotient = uint64_t(floorDivide(insn.lhs.value, insn.rhs.value));
  core.engine().registers[insn.dst] = int64_t(uint64_t(insn.lhs.value) - quotient * uint64_t(insn.rhs.value));
}

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"

#include "pto_mlir/ISA/Scalar.h"

namespace pto_mlir::cmodel {

void execute(const isa::Rem &insn, Core &core) {
  auto result = isa::evaluateScalar(isa::Opcode::Rem, insn.lhs.value, insn.rhs.value);
  if (!result)
    return core.fault(FaultKind::ZeroDivisor, "remainder of " + std::to_string(insn.lhs.value) + " by 0");
  core.engine().registers[insn.dst] = *result;
}

} // namespace pto_mlir::cmodel

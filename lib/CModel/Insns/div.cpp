#include "Insns/Insns.h"

#include "pto_mlir/ISA/Scalar.h"

namespace pto_mlir::cmodel {

void execute(const isa::Div &insn, Core &core) {
  auto result = isa::evaluateScalar(isa::Opcode::Div, insn.lhs.value, insn.rhs.value);
  if (!result)
    return core.fault(FaultKind::ZeroDivisor, "division of " + std::to_string(insn.lhs.value) + " by 0");
  core.engine().registers[insn.dst] = *result;
}

} // namespace pto_mlir::cmodel

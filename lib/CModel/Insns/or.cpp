#include "Insns/Insns.h"

#include "pto_mlir/ISA/Scalar.h"

namespace pto_mlir::cmodel {

void execute(const isa::Or &insn, Core &core) {
  core.engine().registers[insn.dst] = *isa::evaluateScalar(isa::Opcode::Or, insn.lhs.value, insn.rhs.value);
}

} // namespace pto_mlir::cmodel

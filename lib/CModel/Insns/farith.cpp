#include "Insns/Insns.h"

#include "pto_mlir/ISA/FloatScalar.h"

namespace pto_mlir::cmodel {

void execute(const isa::Farith &insn, Core &core) {
  core.engine().registers[insn.dst] = isa::evaluateFloat(insn.op, insn.lhs.value, insn.rhs.value);
}

} // namespace pto_mlir::cmodel

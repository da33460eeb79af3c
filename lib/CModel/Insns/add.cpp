#include "Insns/Insns.h"

#include "pto_mlir/ISA/Scalar.h"

namespace pto_mlir::cmodel {

void execute(const isa::Add &insn, Core &core) {
  core.engine().registers[insn.dst] = *isa::evaluateScalar(isa::Opcode::Add, insn.lhs.value, insn.rhs.value);
}

} // namespace pto_mlir::cmodel

#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::And &insn, Core &core) {
  core.engine().registers[insn.dst] = insn.lhs.value & insn.rhs.value;
}

} // namespace pto_mlir::cmodel

#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Shr &insn, Core &core) {
  core.engine().registers[insn.dst] = insn.lhs.value >> (insn.rhs.value & 63);
}

} // namespace pto_mlir::cmodel

#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Min &insn, Core &core) {
  core.engine().registers[insn.dst] = std::min(insn.lhs.value, insn.rhs.value);
}

} // namespace pto_mlir::cmodel

#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Max &insn, Core &core) {
  core.engine().registers[insn.dst] = std::max(insn.lhs.value, insn.rhs.value);
}

} // namespace pto_mlir::cmodel

#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Sub &insn, Core &core) {
  core.engine().registers[insn.dst] = int64_t(uint64_t(insn.lhs.value) - uint64_t(insn.rhs.value));
}

} // namespace pto_mlir::cmodel

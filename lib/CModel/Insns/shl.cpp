#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Shl &insn, Core &core) {
  core.engine().registers[insn.dst] = int64_t(uint64_t(insn.lhs.value) << (insn.rhs.value & 63));
}

} // namespace pto_mlir::cmodel

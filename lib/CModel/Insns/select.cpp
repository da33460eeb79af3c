#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Select &insn, Core &core) {
  core.engine().registers[insn.dst] = insn.cond.value ? insn.a.value : insn.b.value;
}

} // namespace pto_mlir::cmodel

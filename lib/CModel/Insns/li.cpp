#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Li &insn, Core &core) { core.engine().registers[insn.dst] = insn.value; }

} // namespace pto_mlir::cmodel

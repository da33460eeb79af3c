#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::CrossSet &insn, Core &core) { core.raiseCross(insn.mode, insn.id.value); }

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::CrossWait &insn, Core &core) { core.waitCross(insn.id.value); }

} // namespace pto_mlir::cmodel

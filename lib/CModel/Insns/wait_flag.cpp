#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::WaitFlag &insn, Core &core) { core.waitFlag(insn.src, insn.dst, insn.id.value); }

} // namespace pto_mlir::cmodel

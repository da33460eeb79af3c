#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Push &insn, Core &core) { core.fifo(insn.engine).push_back(insn.value.value); }

} // namespace pto_mlir::cmodel

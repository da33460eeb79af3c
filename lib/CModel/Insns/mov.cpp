#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Mov &insn, Core &core) { core.engine().registers[insn.dst] = insn.src.value; }

} // namespace pto_mlir::cmodel

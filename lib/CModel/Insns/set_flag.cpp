#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::SetFlag &insn, Core &core) { core.setFlag(insn.src, insn.dst, insn.id.value); }

} // namespace pto_mlir::cmodel

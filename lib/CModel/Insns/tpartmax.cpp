#include "Insns/Insns.h"
#include "Tiles/Partial.h"

namespace pto_mlir::cmodel {

void execute(const isa::TPartmax &insn, Core &core) { mapPartial(insn, core, Max()); }

} // namespace pto_mlir::cmodel

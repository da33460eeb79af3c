#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowexpandmax &insn, Core &core) { mapRowExpand<Standard>(insn, core, Max()); }

} // namespace pto_mlir::cmodel

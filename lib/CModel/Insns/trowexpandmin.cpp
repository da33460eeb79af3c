#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowexpandmin &insn, Core &core) { mapRowExpand<Standard>(insn, core, Min()); }

} // namespace pto_mlir::cmodel

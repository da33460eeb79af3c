#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowexpandadd &insn, Core &core) { mapRowExpand<Standard>(insn, core, Add()); }

} // namespace pto_mlir::cmodel

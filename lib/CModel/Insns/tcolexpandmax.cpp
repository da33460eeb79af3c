#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColexpandmax &insn, Core &core) { mapColExpand<Standard>(insn, core, Max()); }

} // namespace pto_mlir::cmodel

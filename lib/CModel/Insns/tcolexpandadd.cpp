#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColexpandadd &insn, Core &core) { mapColExpand<Standard>(insn, core, Add()); }

} // namespace pto_mlir::cmodel

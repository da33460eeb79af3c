#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColexpandmin &insn, Core &core) { mapColExpand<Standard>(insn, core, Min()); }

} // namespace pto_mlir::cmodel

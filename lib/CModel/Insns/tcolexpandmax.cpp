#include "Expand.h"
#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColexpandmax &insn, Core &core) { mapColExpand<Standard>(insn, core, Max()); }

} // namespace pto_mlir::cmodel

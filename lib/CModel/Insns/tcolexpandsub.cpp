#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColexpandsub &insn, Core &core) { mapColExpand<Standard>(insn, core, Subtract()); }

} // namespace pto_mlir::cmodel

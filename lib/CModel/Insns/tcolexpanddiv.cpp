#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColexpanddiv &insn, Core &core) { mapColExpand<Floats>(insn, core, Divide()); }

} // namespace pto_mlir::cmodel

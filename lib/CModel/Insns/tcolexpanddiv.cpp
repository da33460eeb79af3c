#include "Expand.h"
#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColexpanddiv &insn, Core &core) { mapColExpand<Floats>(insn, core, Divide()); }

} // namespace pto_mlir::cmodel

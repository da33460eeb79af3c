#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TExp &insn, Core &core) { mapUnary<Floats>(insn, core, Exp()); }

} // namespace pto_mlir::cmodel

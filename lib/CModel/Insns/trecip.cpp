#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRecip &insn, Core &core) { mapUnary<Floats>(insn, core, Reciprocal()); }

} // namespace pto_mlir::cmodel

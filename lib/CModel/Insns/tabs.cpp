#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TAbs &insn, Core &core) { mapUnary<Standard>(insn, core, Abs()); }

} // namespace pto_mlir::cmodel

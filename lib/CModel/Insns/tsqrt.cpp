#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TSqrt &insn, Core &core) { mapUnary<Floats>(insn, core, Sqrt()); }

} // namespace pto_mlir::cmodel

#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRsqrt &insn, Core &core) { mapUnary<Floats>(insn, core, ReciprocalSqrt()); }

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TSqrt &insn, Core &core) { mapUnary<Floats>(insn, core, Sqrt()); }

} // namespace pto_mlir::cmodel

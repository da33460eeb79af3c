#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TExp &insn, Core &core) { mapUnary<Floats>(insn, core, Exp()); }

} // namespace pto_mlir::cmodel

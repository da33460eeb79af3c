#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TNeg &insn, Core &core) { mapUnary<Standard>(insn, core, Negate()); }

} // namespace pto_mlir::cmodel

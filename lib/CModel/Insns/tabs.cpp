#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TAbs &insn, Core &core) { mapUnary<Standard>(insn, core, Abs()); }

} // namespace pto_mlir::cmodel

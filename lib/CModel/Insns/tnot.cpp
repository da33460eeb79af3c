#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TNot &insn, Core &core) { mapUnary<Integers>(insn, core, Not()); }

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TLog &insn, Core &core) { mapUnary<Floats>(insn, core, Log()); }

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMax &insn, Core &core) { mapBinary<Standard>(insn, core, Max()); }

} // namespace pto_mlir::cmodel

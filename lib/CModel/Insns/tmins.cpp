#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMins &insn, Core &core) { mapScalar<Standard>(insn, core, Min()); }

} // namespace pto_mlir::cmodel

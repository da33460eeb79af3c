#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMaxs &insn, Core &core) { mapScalar<Standard>(insn, core, Max()); }

} // namespace pto_mlir::cmodel

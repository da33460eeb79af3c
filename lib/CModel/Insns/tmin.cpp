#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMin &insn, Core &core) { mapBinary<Standard>(insn, core, Min()); }

} // namespace pto_mlir::cmodel

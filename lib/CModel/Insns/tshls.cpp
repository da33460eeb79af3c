#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TShls &insn, Core &core) { mapScalar<Integers>(insn, core, ShiftLeft()); }

} // namespace pto_mlir::cmodel

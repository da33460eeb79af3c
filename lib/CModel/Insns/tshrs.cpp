#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TShrs &insn, Core &core) { mapScalar<Integers>(insn, core, ShiftRight()); }

} // namespace pto_mlir::cmodel

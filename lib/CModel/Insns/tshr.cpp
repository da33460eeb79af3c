#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TShr &insn, Core &core) { mapBinary<Integers>(insn, core, ShiftRight()); }

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TShl &insn, Core &core) { mapBinary<Integers>(insn, core, ShiftLeft()); }

} // namespace pto_mlir::cmodel

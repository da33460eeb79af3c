#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TAnd &insn, Core &core) { mapBinary<Integers>(insn, core, And()); }

} // namespace pto_mlir::cmodel

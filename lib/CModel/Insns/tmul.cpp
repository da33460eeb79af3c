#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMul &insn, Core &core) { mapBinary<Standard>(insn, core, Multiply()); }

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMuls &insn, Core &core) { mapScalar<Standard>(insn, core, Multiply()); }

} // namespace pto_mlir::cmodel

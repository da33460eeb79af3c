#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TSubs &insn, Core &core) { mapScalar<Standard>(insn, core, Subtract()); }

} // namespace pto_mlir::cmodel

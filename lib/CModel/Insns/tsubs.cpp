#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TSubs &insn, Core &core) { mapScalar<Standard>(insn, core, Subtract()); }

} // namespace pto_mlir::cmodel

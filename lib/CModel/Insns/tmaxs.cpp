#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMaxs &insn, Core &core) { mapScalar<Standard>(insn, core, Max()); }

} // namespace pto_mlir::cmodel

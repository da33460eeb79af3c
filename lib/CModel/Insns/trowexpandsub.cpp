#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowexpandsub &insn, Core &core) { mapRowExpand<Standard>(insn, core, Subtract()); }

} // namespace pto_mlir::cmodel

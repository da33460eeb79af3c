#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowexpandmul &insn, Core &core) { mapRowExpand<Standard>(insn, core, Multiply()); }

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColexpandmul &insn, Core &core) { mapColExpand<Standard>(insn, core, Multiply()); }

} // namespace pto_mlir::cmodel

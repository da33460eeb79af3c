#include "Insns/Insns.h"
#include "Tiles/Reduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColmax &insn, Core &core) { reduceColumns(insn, core, Max()); }

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"
#include "Tiles/Reduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowmax &insn, Core &core) { reduceRows(insn, core, Max()); }

} // namespace pto_mlir::cmodel

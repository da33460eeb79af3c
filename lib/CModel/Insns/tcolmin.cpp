#include "Insns/Insns.h"
#include "Tiles/Reduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColmin &insn, Core &core) { reduceColumns(insn, core, Min()); }

} // namespace pto_mlir::cmodel

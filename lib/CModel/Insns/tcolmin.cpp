#include "Insns.h"
#include "Reduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColmin &insn, Core &core) { reduceColumns(insn, core, Min()); }

} // namespace pto_mlir::cmodel

#include "Insns.h"
#include "Reduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColsum &insn, Core &core) { reduceColumns(insn, core, Add()); }

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"
#include "Tiles/Reduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColsum &insn, Core &core) { reduceColumns(insn, core, Add()); }

} // namespace pto_mlir::cmodel

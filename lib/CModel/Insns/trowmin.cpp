#include "Insns/Insns.h"
#include "Tiles/Reduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowmin &insn, Core &core) { reduceRows(insn, core, Min()); }

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"
#include "Tiles/Reduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowsum &insn, Core &core) { reduceRows(insn, core, Add()); }

} // namespace pto_mlir::cmodel

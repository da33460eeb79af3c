#include "Insns.h"
#include "Reduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowsum &insn, Core &core) { reduceRows(insn, core, Add()); }

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"
#include "Tiles/Reduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColprod &insn, Core &core) { reduceColumns(insn, core, Multiply()); }

} // namespace pto_mlir::cmodel

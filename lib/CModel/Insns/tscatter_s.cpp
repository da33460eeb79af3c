#include "Insns/Insns.h"
#include "Tiles/Scatter.h"

namespace pto_mlir::cmodel {

void execute(const isa::TScatterS &insn, Core &core) { scatter(insn, core); }

} // namespace pto_mlir::cmodel

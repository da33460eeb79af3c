#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowexpanddiv &insn, Core &core) { mapRowExpand<Floats>(insn, core, Divide()); }

} // namespace pto_mlir::cmodel

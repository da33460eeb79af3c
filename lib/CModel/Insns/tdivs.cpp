#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDivs &insn, Core &core) { mapScalar<Floats>(insn, core, Divide()); }

} // namespace pto_mlir::cmodel

#include "Insns.h"
#include "Remainder.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDiv &insn, Core &core) { mapDivision<Standard>(insn, core, Divide()); }

} // namespace pto_mlir::cmodel

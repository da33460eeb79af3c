#include "Insns.h"
#include "Remainder.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDivs &insn, Core &core) { mapDivisionByScalar<Standard>(insn, core, Divide()); }

} // namespace pto_mlir::cmodel

#include "Arithmetic/Remainder.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDivs &insn, Core &core) { mapDivisionByScalar<Standard>(insn, core, Divide()); }

} // namespace pto_mlir::cmodel

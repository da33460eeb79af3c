#include "Arithmetic/Remainder.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDiv &insn, Core &core) { mapDivision<Standard>(insn, core, Divide()); }

} // namespace pto_mlir::cmodel

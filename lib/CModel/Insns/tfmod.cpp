#include "Arithmetic/Remainder.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TFmod &insn, Core &core) { mapDivision(insn, core, TruncatedRemainder()); }

} // namespace pto_mlir::cmodel

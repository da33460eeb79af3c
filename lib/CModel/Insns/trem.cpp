#include "Arithmetic/Remainder.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRem &insn, Core &core) { mapDivision(insn, core, FlooredRemainder()); }

} // namespace pto_mlir::cmodel

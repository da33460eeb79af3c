#include "Arithmetic/Remainder.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRems &insn, Core &core) { mapDivisionByScalar(insn, core, FlooredRemainder()); }

} // namespace pto_mlir::cmodel

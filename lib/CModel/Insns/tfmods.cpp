#include "Arithmetic/Remainder.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TFmods &insn, Core &core) { mapDivisionByScalar(insn, core, TruncatedRemainder()); }

} // namespace pto_mlir::cmodel

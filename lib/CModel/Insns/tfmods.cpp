#include "Insns.h"
#include "Remainder.h"

namespace pto_mlir::cmodel {

void execute(const isa::TFmods &insn, Core &core) { mapDivisionByScalar(insn, core, TruncatedRemainder()); }

} // namespace pto_mlir::cmodel

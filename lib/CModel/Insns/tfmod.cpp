#include "Insns.h"
#include "Remainder.h"

namespace pto_mlir::cmodel {

void execute(const isa::TFmod &insn, Core &core) { mapDivision(insn, core, TruncatedRemainder()); }

} // namespace pto_mlir::cmodel

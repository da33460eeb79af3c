#include "Insns.h"
#include "Remainder.h"

namespace pto_mlir::cmodel {

void execute(const isa::TFmods &insn, Core &core) { mapRemainderByScalar(insn, core, TruncatedRemainder()); }

} // namespace pto_mlir::cmodel

#include "Insns.h"
#include "Remainder.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRems &insn, Core &core) { mapRemainderByScalar(insn, core, FlooredRemainder()); }

} // namespace pto_mlir::cmodel

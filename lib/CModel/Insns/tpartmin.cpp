#include "Insns.h"
#include "Partial.h"

namespace pto_mlir::cmodel {

void execute(const isa::TPartmin &insn, Core &core) { mapPartial(insn, core, Min()); }

} // namespace pto_mlir::cmodel

#include "Insns/Insns.h"
#include "Tiles/Partial.h"

namespace pto_mlir::cmodel {

void execute(const isa::TPartmin &insn, Core &core) { mapPartial(insn, core, Min()); }

} // namespace pto_mlir::cmodel
